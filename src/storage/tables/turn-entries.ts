// Turns as entries of a journal: a line that describes the turn, and a line each for its texts. JSON has no line breaks of its
// own, so nothing is escaped twice.
import type { ItemRow } from './conversation-tables.ts';
import type { ResponseRow } from './response-table.ts';
import type { UnixMs } from '../../base/units.ts';

/** The kind of such entries. A kind is stored: it gets no second meaning. */
export const TURN_ENTRY = 3;

/** A turn ready to be written. Texts of one that comes from a journal are the bytes of its entry. */
export interface Turn {
  readonly projectId: string;
  /** Null for one whose response is not stored. */
  readonly response: ArrivingRow | null;
  /** The conversation that gets its items. Null: none. */
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

/** A turn whose texts are strings: how it is before it was in a journal. */
export interface NewTurn extends Turn {
  readonly response: ResponseRow | null;
  readonly items: readonly ItemRow[];
}

const LINE_BREAK = 10;
/** A unit of UTF-16 is at most three bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/** The first line. It only ever grows at its end. */
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

/** Buffer of the next entry; it grows with the largest of them. */
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
 * The turn of an entry. Its texts are views of the entry's bytes.
 * @throws RangeError for bytes that `encodeTurn` has not made
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
