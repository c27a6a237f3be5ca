// The rows of stored responses: one each with its items inside, and an index that leads from ids to rows. Writes run inside
// a transaction of somebody else. Knows nothing of what an item says, besides its id.
import type { Kysely } from 'kysely';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import { placeOf, type ResponseHead, type ResponseRow } from '../state/response-rows.ts';
import type { Schema } from './schema.ts';

export class ResponseRows {
  /** Binds the columns in their order, without `row`. */
  readonly #insert: SqlStatement;
  /** Binds place, key id, row. */
  readonly #insertId: SqlStatement;
  /** Binds place, key id, id, 1. */
  readonly #head: SqlStatement;

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
      response: '',
      input: '',
    });
    const insertId = db.insertInto('response_ids').values({ place: '', key_id: '', response_row: 0 });
    this.#insert = connection.prepare(insert.compile().sql);
    this.#insertId = connection.prepare(insertId.compile().sql);
    this.#head = connection.prepare(head.compile().sql);
  }

  headOf(projectId: string, id: string): ResponseHead | undefined {
    return this.#head.all(placeOf(id), projectId, id, 1)[0] as ResponseHead | undefined;
  }

  /** For an id that is not there. Inside a transaction; its bytes are counted by somebody else. */
  insert(r: ResponseRow): void {
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
}
