// The rows of stored responses: one each with its items inside, and an index that leads from ids to rows. Writes run inside
// a transaction of somebody else. Knows nothing of what an item says, besides its id.
import type { Kysely } from 'kysely';
import { asArray, asString, isJsonObject, type JsonObject } from '../../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import type { StoredResponse } from '../ports.ts';
import type { Schema } from './schema.ts';
import { NEVER, type ResponseHead, ROW_BYTES } from './state-usage.ts';

/** A response ready to be written. */
export interface ResponseRow {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** What it counts for. */
  readonly bytes: number;
  readonly places: readonly string[];
  readonly response: string;
  readonly input: string;
}

/** What follows the type in ids that are made from a generation's: its 32 digits, and perhaps a number of the item. */
const GENERATION_ID = /^[0-9a-f]{32}(?=_|$)/;

/** Clients may choose ids of items, and need not keep them short. What is found at a place is compared with the whole id. */
const LONGEST_PLACE = 64;

/**
 * Where `response_ids` lists an id. It begins with what follows the type (`msg_…`): for the gateway's own ids that
 * is the generation, which all ids of a turn share, and for others at least the part that lies close together.
 */
export function placeOf(id: string): string {
  const tail = id.slice(id.indexOf('_') + 1);
  return GENERATION_ID.exec(tail)?.[0] ?? tail.slice(0, LONGEST_PLACE);
}

/** Every place under which the response or one of its items is looked for, once. */
function placesOf(id: string, items: readonly JsonObject[]): readonly string[] {
  const places = new Set([placeOf(id)]);
  for (const item of items) {
    const itemId = asString(item['id']);
    if (itemId !== undefined) places.add(placeOf(itemId));
  }
  return [...places];
}

/** Input and output items of a turn, in order. */
export function itemsOf({
  response,
  input,
}: Pick<StoredResponse, 'response' | 'input'>): readonly JsonObject[] {
  return [...input, ...asArray(response['output']).filter(isJsonObject)];
}

/** @param text of the response, and @param input of its input items, as JSON */
export function responseRow(stored: StoredResponse, text: string, input: string): ResponseRow {
  const { id, projectId, createdAt, previousId, conversationId } = stored;
  const places = placesOf(id, itemsOf(stored));
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(input) + (1 + places.length) * ROW_BYTES;
  const expiresAt = stored.expiresAt ?? NEVER;
  return {
    id,
    projectId,
    createdAt,
    expiresAt,
    previousId,
    conversationId,
    bytes,
    places,
    response: text,
    input,
  };
}

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
