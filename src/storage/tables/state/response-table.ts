// Tables of stored responses: one row with all items, and index rows for the ids of the response and its items.
import { asArray, asString, isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import { isSmall, jsonTexts } from '../../json-text.ts';
import type { StoredResponse } from '../../../accounts/ports/index.ts';
import { NEVER, ROW_BYTES } from '../sizes.ts';
import { type RowIn, table } from '../table.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Texts are the last columns, so that the others can be read without them. */
export const RESPONSES = table({
  name: 'responses',
  columns: {
    row: 'row',
    id: 'id',
    key_id: 'id',
    created_at: 'number',
    /** `NEVER` if it does not expire, as in all tables of stored objects. */
    expires_at: 'number',
    previous_id: 'id?',
    conversation_id: 'id?',
    /** Bytes that count in `state_usage`. */
    bytes: 'number',
    /** JSON array of its places in `response_ids`. */
    places: 'text',
    response: 'text',
    input: 'text',
  },
  key: ['row'],
  unique: [['id']],
  indexes: {
    responses_by_key: ['key_id', 'expires_at', 'row'],
    responses_by_expiry: ['expires_at', 'row'],
  },
});

/**
 * Index of responses by the ids of responses and items. Ids of one turn share a place, because each further page that a
 * write touches costs as much as the rest of the row. The texts tell which response contains the id.
 */
export const RESPONSE_IDS = table({
  name: 'response_ids',
  columns: { place: 'id', key_id: 'id', response_row: 'number' },
  key: ['place', 'key_id', 'response_row'],
  clustered: true,
});

/** Deleted responses and items, so that a journal that still contains them does not restore them. */
export const DELETED = table({
  name: 'deleted_of_turns',
  columns: {
    /** Project of the response, or conversation of the item. */
    owner_id: 'id',
    id: 'id',
    /** Unix milliseconds. */
    deleted_at: 'number',
  },
  // Queries look up many ids at a time.
  key: ['id', 'owner_id'],
  indexes: { deleted_of_turns_in_order: ['deleted_at'] },
  clustered: true,
  isLocal: true,
});

/** Columns needed to delete a response. */
export interface ResponseHead {
  readonly row: number;
  readonly key_id: string;
  readonly bytes: number;
}

/** An encoded response. */
export interface ResponseRow {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs;
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** Bytes that count against the quota. */
  readonly bytes: number;
  readonly places: readonly string[];
  readonly response: string;
  readonly input: string;
}

/** Part after the type in ids derived from a generation id: 32 hex digits, and possibly the number of the item. */
const GENERATION_ID = /^[0-9a-f]{32}(?=_|$)/;

/** Maximum length of a place. Clients may choose long item ids, so results are compared with the full id. */
const LONGEST_PLACE = 64;

/**
 * Place of an id in `response_ids`: the part after the type (`msg_…`). For the gateway's own ids that is the generation id,
 * which all ids of a turn share.
 */
export function placeOf(id: string): string {
  const tail = id.slice(id.indexOf('_') + 1);
  return GENERATION_ID.exec(tail)?.[0] ?? tail.slice(0, LONGEST_PLACE);
}

/** Unique places of a response and its items. */
function placesOf({ id, response, input }: StoredResponse): readonly string[] {
  const own = placeOf(id);
  // Nearly all ids belong to this turn, which is checked without allocations.
  const isOwn = GENERATION_ID.test(own) ? isAt : isNotInMemory;
  let others: Set<string> | undefined;
  for (const items of [input, asArray(response['output'])])
    for (const item of items) {
      const itemId = isJsonObject(item) ? asString(item['id']) : undefined;
      if (itemId !== undefined && !isOwn(itemId, own)) (others ??= new Set()).add(placeOf(itemId));
    }
  others?.delete(own);
  return others ? [own, ...others] : [own];
}

/** True if the place of an id is that of a generation. */
function isAt(id: string, generation: string): boolean {
  const from = id.indexOf('_') + 1;
  const end = from + generation.length;
  return id.startsWith(generation, from) && (end === id.length || id[end] === '_');
}

function isNotInMemory(): boolean {
  return false;
}

/** Input and output items of a turn, in order. */
export function itemsOf({
  response,
  input,
}: Pick<StoredResponse, 'response' | 'input'>): readonly JsonObject[] {
  return [...input, ...asArray(response['output']).filter(isJsonObject)];
}

/**
 * Encodes a response.
 * @returns a promise for a large response, whose texts are serialised in several turns of the event loop
 */
export function responseRow(stored: StoredResponse): ResponseRow | Promise<ResponseRow> {
  const { response, input } = stored;
  if (isSmall(response, input)) return rowOf(stored, JSON.stringify(response), JSON.stringify(input));
  return jsonTexts([response, input]).then(([text, items]) => rowOf(stored, text, items));
}

/** @param text JSON of the response @param input JSON of its input items */
function rowOf(stored: StoredResponse, text: string, input: string): ResponseRow {
  const { id, projectId, createdAt, previousId, conversationId } = stored;
  const places = placesOf(stored);
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

/** Columns that are read from a response. */
export type FoundRow = Omit<RowIn<typeof RESPONSES>, 'row' | 'bytes' | 'places'>;

/** Decodes a response. */
export function decodeResponse(row: FoundRow): StoredResponse {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    previousId: row.previous_id,
    conversationId: row.conversation_id,
    ...decodeTexts(row),
  };
}

/** Latest item with an id. @param responses latest first */
export function itemOf(
  responses: readonly Pick<StoredResponse, 'response' | 'input'>[],
  itemId: string,
): JsonObject | null {
  for (const response of responses) {
    const found = itemsOf(response).findLast(({ id }) => id === itemId);
    if (found) return found;
  }
  return null;
}

/** Decodes the texts of a row. */
export function decodeTexts(
  row: Pick<FoundRow, 'response' | 'input'>,
): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
