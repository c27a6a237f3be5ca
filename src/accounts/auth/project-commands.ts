// Commands on projects, for the command line and the management API.
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, isProjectName, PROJECT_NAME_RULE } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { ProjectChange, ProjectPageRequest, StoredProject } from '../ports/index.ts';
import { checkLimits, type LimitsOf } from './check-limits.ts';
import { definedInFile, type ConfiguredProject } from './configured.ts';
import { projectJson } from './tenant-json.ts';
import type { ChangeCondition, Source, Tenants } from './tenants.ts';
import type { UnixMs } from '../../base/units.ts';

/** Public view of a project. */
export interface ProjectView {
  /** Name of the project. */
  readonly id: string;
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
  /** Unix milliseconds. This and the next three members are null for projects of the configuration file. */
  readonly createdAt: UnixMs | null;
  readonly updatedAt: UnixMs | null;
  readonly archivedAt: UnixMs | null;
  readonly version: number | null;
  readonly state: 'active' | 'archived';
  readonly source: Source;
}

export class ProjectCommands {
  readonly #tenants: Omit<Tenants, 'pepper'>;

  constructor(tenants: Omit<Tenants, 'pepper'>) {
    this.#tenants = tenants;
  }

  /**
   * Creates a project.
   * @throws GatewayError `invalid_request` for invalid settings; `conflict` if the name exists, also in the configuration file
   * or as an archived project
   */
  async create({ name, ...of }: LimitsOf & { readonly name: string }): Promise<ProjectView> {
    if (!isProjectName(name))
      throw new GatewayError('invalid_request', `The name of a project ${PROJECT_NAME_RULE}.`, {
        param: 'name',
      });
    checkLimits(of);
    if (this.#inFile(name)) throw nameInFile(name);
    const nowMs = this.#tenants.now();
    const project: StoredProject = {
      id: name,
      createdAt: nowMs,
      updatedAt: nowMs,
      archivedAt: null,
      limits: of.limits ?? [],
      budgets: of.budgets ?? [],
      version: 1,
    };
    const view = viewOf(project);
    const change = { action: 'project.create', target: name, before: null, after: projectJson(view) };
    if (!(await this.#tenants.storage.projects.insert(project, this.#tenants.entryOf(change))))
      throw new GatewayError(
        'conflict',
        `A project named "${name}" exists or existed. Project names cannot be reused: choose another one.`,
        {
          param: 'name',
        },
      );
    return view;
  }

  /** Stored projects in order of creation, without those that the configuration file also defines. */
  async list(page: ProjectPageRequest): Promise<{ entries: readonly ProjectView[]; hasMore: boolean }> {
    const { projects, hasMore } = await this.#tenants.storage.projects.list(page);
    return { entries: projects.filter(({ id }) => !this.#inFile(id)).map(viewOf), hasMore };
  }

  /** Projects of the configuration file. */
  configured(): readonly ProjectView[] {
    const { projects = {} } = this.#tenants.configured();
    return Object.entries(projects).map(([id, project]) => configuredView(id, project));
  }

  /** @throws GatewayError `not_found` */
  async find(name: string): Promise<ProjectView> {
    const inFile = this.#inFile(name);
    if (inFile) return configuredView(name, inFile);
    const found = await this.#tenants.storage.projects.find(name);
    if (!found) throw unknown(name);
    return viewOf(found);
  }

  /**
   * Changes limits and budgets. Absent members stay unchanged.
   * @throws GatewayError `not_found`, `invalid_request`, or `conflict` for a project of the configuration file or another
   * version
   */
  change(name: string, change: LimitsOf, condition: ChangeCondition = {}): Promise<ProjectView> {
    checkLimits(change);
    return this.#update('change', name, change, condition);
  }

  /** Archives a project: all of its keys are refused, and its data is kept. @throws GatewayError as `change` */
  async archive(name: string, condition: ChangeCondition = {}): Promise<ProjectView> {
    const { archivedAt } = await this.find(name);
    return this.#update('archive', name, { archivedAt: archivedAt ?? this.#tenants.now() }, condition);
  }

  /** Restores an archived project. @throws GatewayError as `change` */
  restore(name: string, condition: ChangeCondition = {}): Promise<ProjectView> {
    return this.#update('restore', name, { archivedAt: null }, condition);
  }

  async #update(
    action: string,
    name: string,
    change: ProjectChange,
    { ifVersion }: ChangeCondition,
  ): Promise<ProjectView> {
    if (this.#inFile(name)) throw definedInFile(`The project "${name}"`);
    const { storage, now, entryOf } = this.#tenants;
    const jsonOf = (stored: StoredProject): JsonObject => projectJson(viewOf(stored));
    const of = { atMs: now(), ifVersion };
    const changed = await storage.projects.update(name, change, of, (before, after) =>
      entryOf({ action: `project.${action}`, target: name, before: jsonOf(before), after: jsonOf(after) }),
    );
    if (!changed) throw unknown(name);
    return viewOf(changed);
  }

  #inFile(name: string): ConfiguredProject | undefined {
    const { projects = {} } = this.#tenants.configured();
    return Object.hasOwn(projects, name) ? projects[name] : undefined;
  }
}

function viewOf(project: StoredProject): ProjectView {
  return { ...project, state: project.archivedAt === null ? 'active' : 'archived', source: 'database' };
}

function configuredView(id: string, { limits, budgets }: ConfiguredProject): ProjectView {
  const times = { createdAt: null, updatedAt: null, archivedAt: null, version: null };
  return { id, limits, budgets, ...times, state: 'active', source: 'file' };
}

/** Error for a new project whose name the configuration file uses. */
function nameInFile(name: string): GatewayError {
  return new GatewayError(
    'conflict',
    `The configuration file already defines a project "${name}". Choose another name.`,
    { param: 'name', code: 'defined_in_file' },
  );
}

function unknown(name: string): GatewayError {
  return new GatewayError('not_found', `Project "${name.slice(0, 100)}" not found.`);
}
