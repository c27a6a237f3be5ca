// Names of keys and projects for the tables of `dragoman usage`, whose records contain ids. Deleted keys are shown by
// id.
import type { JsonObject } from '../../../base/json/index.ts';
import { KeyCommands } from '../../../accounts/auth/index.ts';
import type { Config } from '../../config/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import { openTenants } from '../compose/open-tenants.ts';
import { COMMAND, everyPage } from './tenant-command.ts';

export class UsageNames {
  /** By id of a key. */
  readonly #names: ReadonlyMap<string, string>;
  /** Names used by several keys. */
  readonly #shared: ReadonlySet<string>;

  private constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
    const seen = new Set<string>();
    this.#shared = new Set([...names.values()].filter((name) => seen.size === seen.add(name).size));
  }

  /** Reads the names of all keys, including revoked ones. */
  static async read(storage: Storage, config: Config): Promise<UsageNames> {
    const commands = new KeyCommands(await openTenants(storage, () => config, Date.now, COMMAND));
    const stored = await everyPage((after) =>
      commands.list({ ...after, order: 'asc', projectId: undefined }),
    );
    return new UsageNames(new Map([...commands.configured(), ...stored].map(({ id, name }) => [id, name])));
  }

  /** Ids of all keys with a name. An unknown name is returned unchanged. */
  readonly keyIds = (named: string): readonly string[] => {
    const ids = [...this.#names].filter(([, name]) => name === named).map(([id]) => id);
    return ids.length > 0 ? ids : [named];
  };

  /** Adds names to a row. A key without a project is its own project. @param keepsIds true: unchanged */
  shown(row: JsonObject, keepsIds: boolean): JsonObject {
    if (keepsIds) return row;
    const named = ['project', 'key'].flatMap((column) => {
      const id = row[column];
      return typeof id === 'string' ? [[column, this.#nameOf(id)] as const] : [];
    });
    return { ...row, ...Object.fromEntries(named) };
  }

  #nameOf(id: string): string {
    const name = this.#names.get(id);
    if (name === undefined) return id;
    return this.#shared.has(name) ? `${name} (${id})` : name;
  }
}
