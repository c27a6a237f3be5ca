// API keys as rows of either database. Knows hashes only, never a key itself.
import { type Kysely, type Selectable, sql } from 'kysely';
import { decodeKey, encodeKeyChange } from './key-rows.ts';
import type {
  AuditEntry,
  AuditOf,
  ChangeOf,
  KeyChange,
  KeyFilter,
  KeyPage,
  KeyStore,
  PageRequest,
  StoredKey,
} from '../ports.ts';
import { audited, auditInsert } from './audit-rows.ts';
import type { KeyTable, StateSchema } from './tables.ts';
import { SharedJson } from './shared-json.ts';
import { contains, otherVersion, pageOf } from './tenant-pages.ts';
import type { Transact } from './transact.ts';

/** Keys that are read at once where all are read: the event loop turns in between. */
const PORTION = 2_000;

export class KeyRows implements KeyStore {
  readonly #db: Kysely<StateSchema>;
  readonly #json = new SharedJson();
  readonly #transact: Transact;
  readonly #mark: () => Promise<number>;

  /** @param mark the greatest `changed` of all keys; asked every second */
  constructor(db: Kysely<StateSchema>, transact: Transact, mark: () => Promise<number>) {
    this.#db = db;
    this.#transact = transact;
    this.#mark = mark;
  }

  insert(
    key: StoredKey,
    audit: AuditEntry,
    mayBe?: (namesakes: readonly StoredKey[]) => boolean,
  ): Promise<boolean> {
    const { id, projectId, createdAt, updatedAt, version, ...rest } = key;
    const query = this.#db.insertInto('keys').values({
      ...encodeKeyChange(rest),
      id,
      name: key.name,
      hash: key.hash,
      hint: key.hint,
      log_content: Number(key.logContent ?? false),
      project_id: projectId,
      created_at: createdAt,
      updated_at: updatedAt,
      version,
    });
    const namesakes = this.#named(key.name).compile();
    const queries = [query.compile(), auditInsert(this.#db, audit)];
    const json = this.#json;
    return this.#transact(function* () {
      const rows = mayBe ? ((yield namesakes) as readonly Selectable<KeyTable>[]) : [];
      if (mayBe?.(rows.map((row) => decodeKey(row, json))) === false) return false;
      for (const each of queries) yield each;
      return true;
    });
  }

  async find(id: string): Promise<StoredKey | null> {
    const row = await this.#db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? decodeKey(row, this.#json) : null;
  }

  async named(name: string): Promise<readonly StoredKey[]> {
    const rows = await this.#named(name).execute();
    return rows.map((row) => decodeKey(row, this.#json));
  }

  async list({
    projectId,
    isRevoked,
    name,
    search,
    ids,
    ...page
  }: PageRequest & KeyFilter): Promise<KeyPage> {
    let query = this.#db.selectFrom('keys').selectAll();
    if (projectId !== undefined) query = query.where('project_id', '=', projectId);
    if (isRevoked !== undefined) query = query.where('revoked_at', isRevoked ? 'is not' : 'is', null);
    if (name !== undefined) query = query.where('name', '=', name);
    if (search !== undefined)
      query = query.where((eb) => eb.or([contains('name', search), contains('id', search)]));
    if (ids !== undefined) query = query.where('id', 'in', ids);
    const { rows, hasMore } = await pageOf(this.#db, 'keys', query, page);
    return { keys: rows.map((row) => decodeKey(row, this.#json)), hasMore };
  }

  async update(
    id: string,
    change: KeyChange,
    { atMs, ifVersion }: ChangeOf,
    auditOf: AuditOf<StoredKey>,
  ): Promise<StoredKey | null> {
    const before = this.#db.selectFrom('keys').selectAll().where('id', '=', id);
    let query = this.#db
      .updateTable('keys')
      .set({ ...encodeKeyChange(change), updated_at: atMs, version: sql`version + 1` })
      .where('id', '=', id);
    if (ifVersion !== undefined) query = query.where('version', '=', ifVersion);
    const changed = await this.#transact(() =>
      audited(this.#db, before, query.returningAll(), (row) => decodeKey(row, this.#json), auditOf),
    );
    if (!changed && ifVersion !== undefined && (await this.find(id)))
      throw otherVersion('key', id, ifVersion);
    return changed;
  }

  async *all(): AsyncGenerator<readonly StoredKey[]> {
    for (let after = ''; ;) {
      const rows = await this.#db
        .selectFrom('keys')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(PORTION)
        .execute();
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map((row) => decodeKey(row, this.#json));
      after = last.id;
    }
  }

  mark(): Promise<number> {
    return this.#mark();
  }

  async changedSince(mark: number): Promise<readonly StoredKey[]> {
    const rows = await this.#db.selectFrom('keys').selectAll().where('changed', '>', mark).execute();
    return rows.map((row) => decodeKey(row, this.#json));
  }

  #named(name: string) {
    return this.#db
      .selectFrom('keys')
      .selectAll()
      .where('name', '=', name)
      .orderBy('created_at')
      .orderBy('id');
  }
}
