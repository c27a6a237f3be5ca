// What is known of uploaded files, in PostgreSQL. Their bytes are elsewhere, but count here against the quota of their project.
import type { Kysely } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { FilePage, FileStore, PageRequest, StoredFile } from '../ports.ts';
import { countedBytes, decodeFile, type FileRow } from '../state/file-rows.ts';
import { NEVER } from '../state/sizes.ts';
import type { PostgresStateUsage } from './state-usage.ts';
import type { PostgresBase, PostgresSchema, Tx } from './store.ts';

/** Rows deleted in one transaction. The bytes of each are to be removed. */
const PURGE_ROWS = 50;

export class PostgresFiles implements FileStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #usage: PostgresStateUsage;

  constructor({ db, transaction, usage }: PostgresBase) {
    this.#db = db;
    this.#transaction = transaction;
    this.#usage = usage;
  }

  async put(file: StoredFile): Promise<void> {
    await this.#transaction(async (tx) => {
      await tx
        .insertInto('files')
        .values({
          id: file.id,
          key_id: file.projectId,
          created_at: file.createdAt,
          expires_at: file.expiresAt ?? NEVER,
          purpose: file.purpose,
          filename: file.filename,
          media_type: file.mediaType,
          bytes: file.bytes,
        })
        .execute();
      await this.#usage.claim(tx, file.projectId, 0, countedBytes(file));
    });
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredFile | null> {
    const row = await this.#row(projectId, id, nowMs);
    return row ? decodeFile(row) : null;
  }

  async exists(id: string): Promise<boolean> {
    const row = await this.#db.selectFrom('files').select('row').where('id', '=', id).executeTakeFirst();
    return row !== undefined;
  }

  async list(
    projectId: string,
    { after, limit, order, purpose }: PageRequest & { readonly purpose?: string | undefined },
    nowMs: number,
  ): Promise<FilePage> {
    let query = this.#db
      .selectFrom('files')
      .selectAll()
      .where('key_id', '=', projectId)
      .where('expires_at', '>', nowMs);
    if (purpose !== undefined && purpose !== '') query = query.where('purpose', '=', purpose);
    if (after !== undefined) {
      const place = await this.#row(projectId, after, nowMs);
      if (!place)
        throw new GatewayError('invalid_request', `after: no file '${after.slice(0, 100)}'`, {
          param: 'after',
        });
      query = query.where('row', order === 'asc' ? '>' : '<', place.row);
    }
    // One more than asked for: it says whether there are more.
    const rows = await query
      .orderBy('row', order)
      .limit(limit + 1)
      .execute();
    return { files: rows.slice(0, limit).map(decodeFile), hasMore: rows.length > limit };
  }

  delete(projectId: string, id: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const rows = await tx
        .deleteFrom('files')
        .where('id', '=', id)
        .where('key_id', '=', projectId)
        .returningAll()
        .execute();
      await this.#release(tx, rows);
      return rows.length > 0;
    });
  }

  takeExpired(nowMs: number): Promise<readonly string[]> {
    return this.#transaction(async (tx) => {
      const expired = tx
        .selectFrom('files')
        .select('row')
        .where('expires_at', '<=', nowMs)
        .orderBy('expires_at')
        .limit(PURGE_ROWS)
        .forUpdate()
        .skipLocked();
      const rows = await tx.deleteFrom('files').where('row', 'in', expired).returningAll().execute();
      await this.#release(tx, rows);
      return rows.map(({ id }) => id);
    });
  }

  #row(projectId: string, id: string, nowMs: number): Promise<FileRow | undefined> {
    return this.#db
      .selectFrom('files')
      .selectAll()
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .where('expires_at', '>', nowMs)
      .executeTakeFirst();
  }

  async #release(tx: Tx, rows: readonly FileRow[]): Promise<void> {
    // In one order, so that two processes never wait for each other.
    for (const row of rows.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1)))
      await this.#usage.release(tx, row.key_id, 0, countedBytes(decodeFile(row)));
  }
}
