// The rows of stored responses: one each with its items inside, and an index that leads from ids to rows. Writes run inside
// a transaction of somebody else. Knows nothing of what an item says, besides its id.
import { type Kysely, sql } from 'kysely';
import { asArray, asString, isJsonObject, type JsonObject } from '../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import { CompactReader } from './compact/reader.ts';
import type { CompactWriter } from './compact/writer.ts';
import type { StoredResponse } from './ports.ts';
import type { ResponseTable, Schema } from './schema.ts';
import { NEVER, type ResponseHead, ROW_BYTES } from './state-usage.ts';

/** A response ready to be written. Texts may be UTF-8. */
export interface ResponseRow {
  readonly id: string;
  readonly keyId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** What it counts for. */
  readonly bytes: number;
  readonly places: readonly string[];
  readonly response: string | Uint8Array;
  readonly input: string | Uint8Array;
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
  const { id, keyId, createdAt, previousId, conversationId } = stored;
  const places = placesOf(id, itemsOf(stored));
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(input) + (1 + places.length) * ROW_BYTES;
  const expiresAt = stored.expiresAt ?? NEVER;
  return {
    id,
    keyId,
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

/** The row as the content of a journal's entry. @param w has been reset */
export function writeEntry(w: CompactWriter, row: ResponseRow): void {
  w.text(row.id);
  w.text(row.keyId);
  w.number(row.createdAt);
  w.number(row.expiresAt);
  w.text(row.previousId);
  w.text(row.conversationId);
  w.number(row.bytes);
  w.text(JSON.stringify(row.places));
  w.text(String(row.response));
  w.text(String(row.input));
}

/** @throws RangeError when the content is not that of a response */
export function readEntry(content: Uint8Array): ResponseRow {
  const r = new CompactReader(content, () => '');
  return {
    id: r.value() as string,
    keyId: r.value() as string,
    createdAt: r.value() as number,
    expiresAt: r.value() as number,
    previousId: r.value() as string | null,
    conversationId: r.value() as string | null,
    bytes: r.value() as number,
    places: JSON.parse(r.value() as string) as readonly string[],
    response: r.utf8(),
    input: r.utf8(),
  };
}

/** The response of a row that was read from an entry. */
export function storedOf(row: ResponseRow): StoredResponse {
  const { id, keyId, createdAt, previousId, conversationId } = row;
  const parse = (text: string | Uint8Array): unknown =>
    JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString());
  return {
    id,
    keyId,
    createdAt,
    expiresAt: row.expiresAt === NEVER ? null : row.expiresAt,
    previousId,
    conversationId,
    response: parse(row.response) as JsonObject,
    input: parse(row.input) as JsonObject[],
  };
}

const COLUMNS = [
  'id',
  'key_id',
  'created_at',
  'expires_at',
  'previous_id',
  'conversation_id',
  'bytes',
  'places',
  'response',
  'input',
] as const satisfies readonly (keyof ResponseTable)[];

export class ResponseRows {
  /** Binds the columns in their order, then place and key id: nothing may be listed there. */
  readonly #insertNew: SqlStatement;
  /** Binds the columns in their order. */
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
    const values = db.selectNoFrom(({ val }) => [
      val('').as('id'),
      val('').as('key_id'),
      val(0).as('created_at'),
      val(0).as('expires_at'),
      val('').as('previous_id'),
      val('').as('conversation_id'),
      val(0).as('bytes'),
      val('').as('places'),
      // Bytes from a journal are the texts' UTF-8: they need not become strings in between.
      sql<string>`cast(${''} as text)`.as('response'),
      sql<string>`cast(${''} as text)`.as('input'),
    ]);
    const insert = db.insertInto('responses').columns(COLUMNS).expression(values);
    // Asked in the same statement: one of its own costs half of what the row costs.
    const listed = db
      .selectFrom('response_ids')
      .select('place')
      .where('place', '=', '')
      .where('key_id', '=', '');
    const insertNew = db
      .insertInto('responses')
      .columns(COLUMNS)
      .expression(values.where(({ not, exists }) => not(exists(listed))));
    const insertId = db.insertInto('response_ids').values({ place: '', key_id: '', response_row: 0 });
    this.#insertNew = connection.prepare(insertNew.compile().sql);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#insertId = connection.prepare(insertId.compile().sql);
    this.#head = connection.prepare(head.compile().sql);
  }

  headOf(keyId: string, id: string): ResponseHead | undefined {
    return this.#head.all(placeOf(id), keyId, id, 1)[0] as ResponseHead | undefined;
  }

  /** False where the id is there already. Inside a transaction; its bytes are counted by somebody else. */
  insert(r: ResponseRow): boolean {
    const values = [
      r.id,
      r.keyId,
      r.createdAt,
      r.expiresAt,
      r.previousId,
      r.conversationId,
      r.bytes,
      JSON.stringify(r.places),
      r.response,
      r.input,
    ];
    let inserted = this.#insertNew.run(...values, placeOf(r.id), r.keyId);
    if (inserted.changes === 0) {
      // What is listed may be items of this response that were sent again.
      if (this.headOf(r.keyId, r.id)) return false;
      inserted = this.#insert.run(...values);
    }
    for (const place of r.places) this.#insertId.run(place, r.keyId, inserted.lastInsertRowid);
    return true;
  }
}
