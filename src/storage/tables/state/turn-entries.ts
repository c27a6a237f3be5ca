// Format of turns in the journal: one line that describes the turn, and one line for each text. JSON contains no line
// breaks, so that texts need no further escaping.
import type { ItemRow } from './conversation-tables.ts';
import type { ResponseRow } from './response-table.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Kind of these entries. Stored, so that its meaning must not change. */
export const TURN_ENTRY = 3;

/** An encoded turn. If it comes from a journal, its texts are the bytes of the entry. */
export interface Turn {
  readonly projectId: string;
  /** Null: the response is not stored. */
  readonly response: ArrivingRow | null;
  /** Conversation to which the items are appended. Null: none. */
  readonly appendTo: string | null;
  readonly items: readonly ArrivingItem[];
}

interface ArrivingRow extends Omit<ResponseRow, 'response' | 'input'> {
  readonly response: string | Uint8Array;
  readonly input: string | Uint8Array;
}

interface ArrivingItem extends Omit<ItemRow, 'text'> {
  readonly text: string | Uint8Array;
}

/** A new turn, whose texts are strings. */
export interface NewTurn extends Turn {
  /** True: a job made the response, so that a client may have deleted it before it is stored. */
  readonly isByJob: boolean;
  readonly response: ResponseRow | null;
  readonly items: readonly ItemRow[];
}

const LINE_BREAK = 10;
/** Maximum UTF-8 bytes per UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;

/** First line. New values may only be added at its end. */
type Head = [
  projectId: string,
  appendTo: string | null,
  response: ResponseHead | null,
  items: readonly [id: string | null, bytes: number][],
];

type ResponseHead = [
  id: string,
  createdAt: UnixMs,
  expiresAt: UnixMs,
  previousId: string | null,
  conversationId: string | null,
  bytes: number,
  places: readonly string[],
];

/** Reused buffer for the next entry. Grows to the largest one. */
let room = Buffer.allocUnsafeSlow(16_384);

/** @returns bytes that are valid until the next call */
export function encodeTurn({ projectId, response: r, appendTo, items }: NewTurn): Uint8Array {
  const head: Head = [
    projectId,
    appendTo,
    r && [r.id, r.createdAt, r.expiresAt, r.previousId, r.conversationId, r.bytes, r.places],
    items.map(({ id, bytes }) => [id, bytes]),
  ];
  const lines = [JSON.stringify(head)];
  if (r) lines.push(r.response, r.input);
  for (const { text } of items) lines.push(text);
  let most = 0;
  for (const line of lines) most += line.length * MOST_BYTES_PER_UNIT + 1;
  if (room.length < most) room = Buffer.allocUnsafeSlow(most);
  let end = 0;
  for (const line of lines) {
    if (end > 0) room[end++] = LINE_BREAK;
    end += room.write(line, end);
  }
  return room.subarray(0, end);
}

/**
 * Decodes an entry. Texts of the turn are views of its bytes.
 * @throws RangeError for bytes that were not produced by `encodeTurn`
 */
export function decodeTurn(content: Uint8Array): Turn {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const first = bytes.indexOf(LINE_BREAK);
  const [projectId, appendTo, head, items] = headOf(
    bytes.toString('utf8', 0, first < 0 ? bytes.length : first),
  );
  let from = first < 0 ? bytes.length + 1 : first + 1;
  const next = (): Buffer => {
    if (from > bytes.length) throw new RangeError('a turn with too few lines');
    const found = bytes.indexOf(LINE_BREAK, from);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(from, end);
    from = end + 1;
    return line;
  };
  return {
    projectId,
    appendTo,
    response: head && {
      ...rowOf(head),
      projectId,
      response: next(),
      input: next(),
    },
    items: items.map(([id, size]) => ({ id, bytes: size, text: next() })),
  };
}

function rowOf([id, createdAt, expiresAt, previousId, conversationId, bytes, places]: ResponseHead) {
  return { id, createdAt, expiresAt, previousId, conversationId, bytes, places };
}

function headOf(line: string): Head {
  try {
    return JSON.parse(line) as Head;
  } catch (cause) {
    throw new RangeError('a turn whose first line is no JSON', { cause });
  }
}
