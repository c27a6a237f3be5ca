// Current projects of the configuration file and of the database. If both define a name, the file has precedence.
import type { LimitEntry } from '../limits/index.ts';
import type { ProjectStore, StoredProject } from '../ports/index.ts';
import type { ConfiguredTenants } from './configured.ts';
import { allLimits } from './key-entry.ts';

const NO_ENTRIES: readonly LimitEntry[] = [];

export class KnownProjects {
  readonly #store: ProjectStore;
  readonly #stored = new Map<string, StoredProject>();
  #configured: NonNullable<ConfiguredTenants['projects']> = {};
  #mark = 0;

  constructor(store: ProjectStore) {
    this.#store = store;
  }

  configure({ projects = {} }: ConfiguredTenants): void {
    this.#configured = projects;
  }

  /** Reads changes from the store. @returns names of the changed projects */
  async refresh(): Promise<readonly string[]> {
    const mark = await this.#store.mark();
    if (mark === this.#mark) return [];
    const changed = await this.#store.changedSince(this.#mark);
    for (const project of changed) this.#stored.set(project.id, project);
    this.#mark = mark;
    return changed.map(({ id }) => id);
  }

  /** Reason why keys of a project are refused; null: they are valid. */
  refusal(name: string): string | null {
    if (Object.hasOwn(this.#configured, name)) return null;
    const project = this.#stored.get(name);
    // Its limits are unknown now, so that its keys cannot be used.
    if (!project) return `the project "${name}" no longer exists`;
    return project.archivedAt === null ? null : `the project "${name}" has been archived`;
  }

  limitsOf(name: string): readonly LimitEntry[] {
    const project = Object.hasOwn(this.#configured, name) ? this.#configured[name] : this.#stored.get(name);
    return project ? allLimits(project.limits, project.budgets) : NO_ENTRIES;
  }

  *names(): Generator<string> {
    yield* Object.keys(this.#configured);
    for (const name of this.#stored.keys()) if (!Object.hasOwn(this.#configured, name)) yield name;
  }
}
