// What is known of uploaded files, in SQLite. Their bytes are elsewhere, but count here against the quota of their key.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import type { GroupCommit } from './group-commit.ts';
import type { FilePage, FileStore, PageRequest, StoredFile } from '../ports.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteBase } from './store.ts';
import { countedBytes, decodeFile, type FileRow } from '../state/file-rows.ts';
import { NEVER } from '../state/sizes.ts';
import type { SqliteStateUsage } from './state-usage.ts';

/** The most rows that are deleted in one go. The bytes of each are a file to be removed. */
const PURGE_ROWS = 50;

export class SqliteFiles implements FileStore {
  readonly #commits: GroupCommit;
  readonly #steps: ShortSteps;
  readonly #usage: SqliteStateUsage;
  /** Binds id, key id, created, expires, purpose, filename, media type, bytes. */
  readonly #insert: SqlStatement;
  /** Binds id, key id, now. */
  readonly #find: SqlStatement;
  /** Binds id. */
  readonly #exists: SqlStatement;
  /** Bind key id, now, purpose or '', purpose, row, limit. */
  readonly #following: SqlStatement;
  readonly #preceding: SqlStatement;
  /** Binds now, limit. */
  readonly #expired: SqlStatement;
  /** Binds row. */
  readonly #delete: SqlStatement;

  constructor({ connection, db, commits, steps, usage }: SqliteBase) {
    this.#commits = commits;
    this.#steps = steps;
    this.#usage = usage;
    const insert = db.insertInto('files').values({
      id: '',
      key_id: '',
      created_at: 0,
      expires_at: 0,
      purpose: '',
      filename: '',
      media_type: '',
      bytes: 0,
    });
    const all = db.selectFrom('files').selectAll();
    const find = all.where('id', '=', '').where('key_id', '=', '').where('expires_at', '>', 0);
    const page = all
      .where('key_id', '=', '')
      .where('expires_at', '>', 0)
      .where(sql<boolean>`(${''} = '' or purpose = ${''})`);
    const expired = all.where('expires_at', '<=', 0).orderBy('expires_at').limit(1);
    const exists = db.selectFrom('files').select('row').where('id', '=', '');
    const deletion = db.deleteFrom('files').where('row', '=', 0);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#find = connection.prepare(find.compile().sql);
    this.#exists = connection.prepare(exists.compile().sql);
    this.#following = connection.prepare(page.where('row', '>', 0).orderBy('row').limit(1).compile().sql);
    this.#preceding = connection.prepare(
      page.where('row', '<', 0).orderBy('row', 'desc').limit(1).compile().sql,
    );
    this.#expired = connection.prepare(expired.compile().sql);
    this.#delete = connection.prepare(deletion.compile().sql);
  }

  async put(file: StoredFile): Promise<void> {
    const { id, projectId, createdAt, expiresAt, purpose, filename, mediaType, bytes } = file;
    const refusal = await this.#commits.run(() => {
      const refused = this.#usage.claim(projectId, 0, countedBytes(file));
      if (!refused)
        this.#insert.run(id, projectId, createdAt, expiresAt ?? NEVER, purpose, filename, mediaType, bytes);
      return refused;
    });
    if (refusal) throw refusal;
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredFile | null> {
    const row = this.#row(projectId, id, nowMs);
    return row ? decodeFile(row) : null;
  }

  async exists(id: string): Promise<boolean> {
    return this.#exists.all(id).length > 0;
  }

  async list(
    projectId: string,
    { after, limit, order, purpose = '' }: PageRequest & { readonly purpose?: string | undefined },
    nowMs: number,
  ): Promise<FilePage> {
    const place = after === undefined ? undefined : this.#row(projectId, after, nowMs);
    if (after !== undefined && !place)
      throw new GatewayError('invalid_request', `after: no file '${after.slice(0, 100)}'`, {
        param: 'after',
      });
    const [statement, start] =
      order === 'asc' ? [this.#following, 0] : [this.#preceding, Number.MAX_SAFE_INTEGER];
    // One more than asked for: it says whether there are more.
    const values = [projectId, nowMs, purpose, purpose, place?.row ?? start, limit + 1];
    const rows = statement.all(...values) as unknown as readonly FileRow[];
    return { files: rows.slice(0, limit).map(decodeFile), hasMore: rows.length > limit };
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const row = this.#row(projectId, id, 0);
      if (row) this.#remove(row);
      return row !== undefined;
    });
  }

  async takeExpired(nowMs: number): Promise<readonly string[]> {
    if (this.#expired.all(nowMs, 1).length === 0) return [];
    let taken: string[] = [];
    await this.#steps.run(() => {
      taken = [];
      return this.#take(nowMs, taken);
    });
    return taken;
  }

  *#take(nowMs: number, taken: string[]): Generator<number> {
    for (const row of this.#expired.all(nowMs, PURGE_ROWS) as unknown as readonly FileRow[]) {
      this.#remove(row);
      taken.push(row.id);
      yield 1;
    }
  }

  #row(projectId: string, id: string, nowMs: number): FileRow | undefined {
    return this.#find.all(id, projectId, nowMs)[0] as FileRow | undefined;
  }

  #remove(row: FileRow): void {
    this.#delete.run(row.row);
    this.#usage.release(row.key_id, 0, countedBytes(decodeFile(row)));
  }
}
