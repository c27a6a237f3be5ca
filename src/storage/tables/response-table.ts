// Stored responses as rows: one each with its items inside, and the places under which its ids are listed. Knows nothing of
// the contents of an item, besides its id.
import { asArray, asString, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { isSmall, jsonTexts } from '../json-text.ts';
import type { StoredResponse } from '../../accounts/ports/index.ts';
import { NEVER, ROW_BYTES } from './sizes.ts';
import { table } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** Texts last, so that the columns before them are read without them. */
export const RESPONSES = table({
  name: 'responses',
  columns: {
    row: 'row',
    id: 'id',
    key_id: 'id',
    created_at: 'number',
    /** `NEVER` when it does not, as everywhere among the stored things. */
    expires_at: 'number',
    previous_id: 'id?',
    conversation_id: 'id?',
    /** Bytes that it counts for in `state_usage`. */
    bytes: 'number',
    /** JSON array of the places where `response_ids` lists it. */
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
 * Places of responses and items by their ids. The ids that the gateway makes for one turn share one place: every
 * further page that a write touches costs as much as the rest of the row. The texts tell which response has the id.
 */
export const RESPONSE_IDS = table({
  name: 'response_ids',
  columns: { place: 'id', key_id: 'id', response_row: 'number' },
  key: ['place', 'key_id', 'response_row'],
  clustered: true,
});

/** Deleted responses and items of turns: a journal that still has them does not bring them back. */
export const DELETED = table({
  name: 'deleted_of_turns',
  columns: {
    /** Project of a response, or conversation of an item. */
    owner_id: 'id',
    id: 'id',
    /** Unix milliseconds. */
    deleted_at: 'number',
  },
  // Queries ask for many ids at once.
  key: ['id', 'owner_id'],
  indexes: { deleted_of_turns_in_order: ['deleted_at'] },
  clustered: true,
  isLocal: true,
});

/** Columns that the deletion of a response needs. */
export interface ResponseHead {
  readonly row: number;
  readonly key_id: string;
  readonly bytes: number;
}

/** A response ready to be written. */
export interface ResponseRow {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs;
  readonly previousId: string | null;
  readonly conversationId: string | null;
  /** Bytes that it counts for. */
  readonly bytes: number;
  readonly places: readonly string[];
  readonly response: string;
  readonly input: string;
}

/** Part behind the type in ids that are made from a generation's: its 32 digits, and perhaps a number of the item. */
const GENERATION_ID = /^[0-9a-f]{32}(?=_|$)/;

/** Clients may choose ids of items, and need not keep them short. What is found at a place is compared with the whole id. */
const LONGEST_PLACE = 64;

/**
 * Place at which `response_ids` lists an id. It begins with what follows the type (`msg_…`): for the gateway's own ids that
 * is the generation, which all ids of a turn share, and for others at least the part that lies close together.
 */
export function placeOf(id: string): string {
  const tail = id.slice(id.indexOf('_') + 1);
  return GENERATION_ID.exec(tail)?.[0] ?? tail.slice(0, LONGEST_PLACE);
}

/** Every place under which the response or one of its items is looked for, once. */
function placesOf({ id, response, input }: StoredResponse): readonly string[] {
  const own = placeOf(id);
  // Nearly all ids are of this turn, which is told without making anything.
  const isOwn = GENERATION_ID.test(own) ? isAt : isNowhere;
  let others: Set<string> | undefined;
  for (const items of [input, asArray(response['output'])])
    for (const item of items) {
      const itemId = isJsonObject(item) ? asString(item['id']) : undefined;
      if (itemId !== undefined && !isOwn(itemId, own)) (others ??= new Set()).add(placeOf(itemId));
    }
  others?.delete(own);
  return others ? [own, ...others] : [own];
}

/** Whether an id's place is that of a generation. */
function isAt(id: string, generation: string): boolean {
  const from = id.indexOf('_') + 1;
  const end = from + generation.length;
  return id.startsWith(generation, from) && (end === id.length || id[end] === '_');
}

function isNowhere(): boolean {
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
 * A response ready to be written.
 * @returns a promise for a large one, whose texts are made in several turns of the event loop
 */
export function responseRow(stored: StoredResponse): ResponseRow | Promise<ResponseRow> {
  const { response, input } = stored;
  if (isSmall(response, input)) return rowOf(stored, JSON.stringify(response), JSON.stringify(input));
  return jsonTexts([response, input]).then(([text, items]) => rowOf(stored, text, items));
}

/** @param text of the response, and @param input of its input items, as JSON */
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

/** Columns that are read of a response. */
export type FoundRow = Omit<NonNullable<(typeof RESPONSES)['row']>, 'row' | 'bytes' | 'places'>;

/** The response of a row. */
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

/** The latest item of this id in responses of which the latest come first. */
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

/** The texts of a row as what they say. */
export function decodeTexts(
  row: Pick<FoundRow, 'response' | 'input'>,
): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
