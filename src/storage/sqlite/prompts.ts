// Prompt templates and their versions in SQLite. Knows nothing of what a template says.
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import type { GroupCommit } from './group-commit.ts';
import type { PageRequest, PromptPage, PromptStore, PromptVersion, StoredPrompt } from '../ports.ts';
import type { SqliteBase } from './store.ts';
import { decodePrompt, decodeVersion, type PromptRow, type VersionRow } from '../state/prompt-rows.ts';
import { rowBytes } from '../state/sizes.ts';
import type { SqliteStateUsage } from './state-usage.ts';

export class SqlitePrompts implements PromptStore {
  readonly #commits: GroupCommit;
  readonly #usage: SqliteStateUsage;
  /** Binds id, key id, created, name, default version, last version, bytes. */
  readonly #insert: SqlStatement;
  /** Binds name, default version, last version, bytes, row. */
  readonly #update: SqlStatement;
  /** Binds prompt row, version, created, bytes, template. */
  readonly #insertVersion: SqlStatement;
  /** Binds id, key id. */
  readonly #find: SqlStatement;
  /** Bind key id, row, limit. */
  readonly #following: SqlStatement;
  readonly #preceding: SqlStatement;
  /** Binds prompt row. */
  readonly #versions: SqlStatement;
  /** Binds prompt row, version. */
  readonly #version: SqlStatement;
  /** Binds prompt row, version. */
  readonly #deleteVersion: SqlStatement;
  /** Binds prompt row. */
  readonly #deleteVersions: SqlStatement;
  /** Binds row. */
  readonly #delete: SqlStatement;

  constructor({ connection, db, commits, usage }: SqliteBase) {
    this.#commits = commits;
    this.#usage = usage;
    const changing = { name: '', default_version: 0, last_version: 0, bytes: 0 };
    const insert = db
      .insertInto('prompts')
      .values({ id: '', key_id: '', created_at: 0, ...changing })
      .onConflict((conflict) => conflict.column('id').doNothing());
    const insertVersion = db
      .insertInto('prompt_versions')
      .values({ prompt_row: 0, version: 0, created_at: 0, bytes: 0, template: '' });
    const page = db.selectFrom('prompts').selectAll().where('key_id', '=', '');
    const versions = db
      .selectFrom('prompt_versions')
      .select(['version', 'created_at', 'bytes', 'template'])
      .where('prompt_row', '=', 0);
    const deleteVersions = db.deleteFrom('prompt_versions').where('prompt_row', '=', 0);
    const find = db.selectFrom('prompts').selectAll().where('id', '=', '').where('key_id', '=', '');
    const update = db.updateTable('prompts').set(changing).where('row', '=', 0);
    const deletion = db.deleteFrom('prompts').where('row', '=', 0);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#update = connection.prepare(update.compile().sql);
    this.#insertVersion = connection.prepare(insertVersion.compile().sql);
    this.#find = connection.prepare(find.compile().sql);
    this.#following = connection.prepare(page.where('row', '>', 0).orderBy('row').limit(1).compile().sql);
    this.#preceding = connection.prepare(
      page.where('row', '<', 0).orderBy('row', 'desc').limit(1).compile().sql,
    );
    this.#versions = connection.prepare(versions.orderBy('version', 'desc').compile().sql);
    this.#version = connection.prepare(versions.where('version', '=', 0).compile().sql);
    this.#deleteVersion = connection.prepare(deleteVersions.where('version', '=', 0).compile().sql);
    this.#deleteVersions = connection.prepare(deleteVersions.compile().sql);
    this.#delete = connection.prepare(deletion.compile().sql);
  }

  async create(
    prompt: Pick<StoredPrompt, 'id' | 'projectId' | 'name' | 'createdAt'>,
    template: JsonObject,
  ): Promise<void> {
    const { id, projectId, name, createdAt } = prompt;
    const text = JSON.stringify(template);
    const own = rowBytes(name ?? '');
    const first = rowBytes(text);
    const refusal = await this.#commits.run(() => {
      const refused = this.#usage.claim(projectId, 0, own + first);
      if (refused) return refused;
      const inserted = this.#insert.run(id, projectId, createdAt, name, 1, 1, own + first);
      if (inserted.changes > 0) this.#insertVersion.run(inserted.lastInsertRowid, 1, createdAt, first, text);
      else this.#usage.release(projectId, 0, own + first);
      return null;
    });
    if (refusal) throw refusal;
  }

  async list(projectId: string, { after, limit, order }: PageRequest): Promise<PromptPage> {
    const place = after === undefined ? undefined : this.#row(projectId, after);
    if (after !== undefined && !place)
      throw new GatewayError('invalid_request', `no prompt '${after}'`, { param: 'after' });
    // One more than asked for: it says whether there are more.
    const rows = (order === 'asc'
      ? this.#following.all(projectId, place?.row ?? 0, limit + 1)
      : this.#preceding.all(
          projectId,
          place?.row ?? Number.MAX_SAFE_INTEGER,
          limit + 1,
        )) as unknown as readonly PromptRow[];
    return { prompts: rows.slice(0, limit).map((row) => this.#decode(row)), hasMore: rows.length > limit };
  }

  async find(projectId: string, id: string): Promise<StoredPrompt | null> {
    const row = this.#row(projectId, id);
    return row ? this.#decode(row) : null;
  }

  async findVersion(projectId: string, id: string, version?: string): Promise<PromptVersion | null> {
    const row = this.#row(projectId, id);
    const found = row && this.#versionRow(row, version ?? String(row.default_version));
    return found ? decodeVersion(found) : null;
  }

  async addVersion(
    projectId: string,
    id: string,
    template: JsonObject,
    createdAt: number,
  ): Promise<string | null> {
    const text = JSON.stringify(template);
    const bytes = rowBytes(text);
    const outcome = await this.#commits.run(() => {
      const row = this.#row(projectId, id);
      if (!row) return null;
      const refused = this.#usage.claim(projectId, 0, bytes);
      if (refused) return refused;
      const version = row.last_version + 1;
      this.#insertVersion.run(row.row, version, createdAt, bytes, text);
      this.#save({ ...row, last_version: version, bytes: row.bytes + bytes });
      return String(version);
    });
    if (GatewayError.is(outcome)) throw outcome;
    return outcome;
  }

  async setDefault(projectId: string, id: string, version: string): Promise<boolean> {
    return this.#commits.run(() => {
      const row = this.#row(projectId, id);
      const found = row && this.#versionRow(row, version);
      if (!row || !found) return false;
      this.#save({ ...row, default_version: found.version });
      return true;
    });
  }

  async setName(projectId: string, id: string, name: string | null): Promise<boolean> {
    const outcome = await this.#commits.run(() => {
      const row = this.#row(projectId, id);
      if (!row) return false;
      const growth = rowBytes(name ?? '') - rowBytes(row.name ?? '');
      const refused = this.#usage.change(projectId, growth);
      if (refused) return refused;
      this.#save({ ...row, name, bytes: row.bytes + growth });
      return true;
    });
    if (typeof outcome !== 'boolean') throw outcome;
    return outcome;
  }

  async deleteVersion(projectId: string, id: string, version: string): Promise<boolean> {
    const outcome = await this.#commits.run(() => {
      const row = this.#row(projectId, id);
      const found = row && this.#versionRow(row, version);
      if (!row || !found) return 'none';
      if (found.version === row.default_version) return 'default';
      this.#deleteVersion.run(row.row, found.version);
      this.#save({ ...row, bytes: row.bytes - found.bytes });
      this.#usage.release(projectId, 0, found.bytes);
      return 'deleted';
    });
    if (outcome === 'default')
      throw new GatewayError(
        'conflict',
        `version ${version} of '${id}' is the default: make another version the default first, or delete the prompt`,
      );
    return outcome === 'deleted';
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const row = this.#row(projectId, id);
      if (!row) return false;
      this.#deleteVersions.run(row.row);
      this.#delete.run(row.row);
      this.#usage.release(projectId, 0, row.bytes);
      return true;
    });
  }

  #row(projectId: string, id: string): PromptRow | undefined {
    return this.#find.all(id, projectId)[0] as PromptRow | undefined;
  }

  /** The version that is written exactly so: `01` names none. */
  #versionRow(row: PromptRow, version: string): VersionRow | undefined {
    const number = Number(version);
    if (String(number) !== version) return undefined;
    return this.#version.all(row.row, number)[0] as VersionRow | undefined;
  }

  #save(row: PromptRow): void {
    this.#update.run(row.name, row.default_version, row.last_version, row.bytes, row.row);
  }

  #decode(row: PromptRow): StoredPrompt {
    return decodePrompt(row, this.#versions.all(row.row) as unknown as readonly VersionRow[]);
  }
}
