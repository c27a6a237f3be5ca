// The rows of stored responses: one each with its items inside, and an index that leads from ids to rows. Writes run inside
// a transaction of somebody else. Knows nothing of what an item says, besides its id.
import { type Kysely, sql } from 'kysely';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import { placeOf, type ResponseHead } from '../state/response-rows.ts';
import type { ArrivingRow } from './response-entries.ts';
import type { Schema } from './schema.ts';

/** Notes of deletions that are forgotten with one statement. */
const FORGET_ROWS = 5;

/** Binds a JSON array: one bound value instead of one per row, and the same statement for every number of them. */
const oneOf = sql<string>`(select value from json_each(${''}))`;

/** Binds a text, or its bytes in UTF-8, which become it as they are. */
const text = sql<string>`cast(${''} as text)`;

export class ResponseRows {
  /** Binds the columns in their order, without `row`. */
  readonly #insert: SqlStatement;
  /** Binds place, key id, row. */
  readonly #insertId: SqlStatement;
  /** Binds place, key id, id, 1. */
  readonly #head: SqlStatement;
  /** Binds places and ids, each as a JSON array; gives those of the ids that are there. */
  readonly #known: SqlStatement;
  /** Binds id, time. */
  readonly #insertDeleted: SqlStatement;
  /** Binds ids as a JSON array; gives those of them that were deleted. */
  readonly #deleted: SqlStatement;
  /** Bind a time and the number of rows. */
  readonly #oldDeleted: SqlStatement;
  readonly #forget: SqlStatement;

  constructor(connection: SqlConnection, db: Kysely<Schema>) {
    // A response is the first to be listed at its own place: later ones may have been sent its items again.
    const head = db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .select(['r.row', 'r.key_id', 'r.bytes', 'r.places'])
      .where('i.place', '=', '')
      .where('i.key_id', '=', '')
      .where('r.id', '=', '')
      .orderBy('i.response_row')
      .limit(1);
    const insert = db.insertInto('responses').values({
      id: '',
      key_id: '',
      created_at: 0,
      expires_at: 0,
      previous_id: '',
      conversation_id: '',
      bytes: 0,
      places: '',
      response: text,
      input: text,
    });
    const insertId = db.insertInto('response_ids').values({ place: '', key_id: '', response_row: 0 });
    this.#insert = connection.prepare(insert.compile().sql);
    this.#insertId = connection.prepare(insertId.compile().sql);
    this.#head = connection.prepare(head.compile().sql);
    const deleted = db.selectFrom('responses_deleted').select('id');
    const insertDeleted = db
      .insertInto('responses_deleted')
      .values({ id: '', deleted_at: 0 })
      .onConflict((conflict) => conflict.doNothing());
    const old = deleted.where('deleted_at', '<', 0).orderBy('deleted_at').limit(1);
    const forget = db.deleteFrom('responses_deleted').where('id', 'in', old);
    this.#insertDeleted = connection.prepare(insertDeleted.compile().sql);
    this.#deleted = connection.prepare(deleted.where('id', 'in', oneOf).compile().sql);
    const known = db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .select('r.id')
      .where('i.place', 'in', oneOf)
      .where('r.id', 'in', oneOf);
    this.#known = connection.prepare(known.compile().sql);
    this.#oldDeleted = connection.prepare(old.compile().sql);
    this.#forget = connection.prepare(forget.compile().sql);
  }

  headOf(projectId: string, id: string): ResponseHead | undefined {
    return this.#head.all(placeOf(id), projectId, id, 1)[0] as ResponseHead | undefined;
  }

  /** For an id that is not there. Inside a transaction; its bytes are counted by somebody else. */
  insert(r: ArrivingRow): void {
    const { lastInsertRowid: row } = this.#insert.run(
      r.id,
      r.projectId,
      r.createdAt,
      r.expiresAt,
      r.previousId,
      r.conversationId,
      r.bytes,
      JSON.stringify(r.places),
      r.response,
      r.input,
    );
    for (const place of r.places) this.#insertId.run(place, r.projectId, row);
  }

  /** Inserts those that are neither there nor deleted, and gives the bytes of these by project. Inside a transaction. */
  insertNew(rows: readonly ArrivingRow[]): ReadonlyMap<string, number> {
    const bytes = new Map<string, number>();
    const left = new Set<unknown>();
    // Asked for all of them at once: a query costs several times what another row of it does.
    const ids = JSON.stringify(rows.map(({ id }) => id));
    const places = JSON.stringify(rows.map(({ id }) => placeOf(id)));
    for (const { id } of this.#known.all(places, ids)) left.add(id);
    for (const { id } of this.#deleted.all(ids)) left.add(id);
    for (const row of rows) {
      if (left.has(row.id)) continue;
      left.add(row.id);
      this.insert(row);
      bytes.set(row.projectId, (bytes.get(row.projectId) ?? 0) + row.bytes);
    }
    return bytes;
  }

  /** Sees to it that a journal that still has this response does not bring it back. Inside a transaction. */
  noteDeleted(id: string, nowMs: number): void {
    this.#insertDeleted.run(id, nowMs);
  }

  /** Whether any was deleted before then. */
  hasDeleted(beforeMs: number): boolean {
    return this.#oldDeleted.all(beforeMs, 1).length > 0;
  }

  /** Forgets those that were deleted before then, a few whenever it is asked. Inside a transaction. */
  *forgetDeleted(beforeMs: number): Generator<number> {
    for (let rows = FORGET_ROWS; rows === FORGET_ROWS; yield rows)
      rows = this.#forget.run(beforeMs, FORGET_ROWS).changes;
  }
}
