// Stored responses as entries of a journal: a line that says what the row is, and a line each for its texts. JSON has no
// line breaks of its own, so nothing is escaped twice.
import type { ResponseRow } from '../state/response-rows.ts';

/** The kind of such entries; those of records have 1, and 2 are turns on their way to PostgreSQL. */
export const RESPONSE_ENTRY = 3;

const LINE_BREAK = 10;

/** A unit of UTF-16 is at most three bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/** A row whose texts may be the bytes of an entry: they are not read on their way into the database. */
export interface ArrivingRow extends Omit<ResponseRow, 'response' | 'input'> {
  readonly response: string | Uint8Array;
  readonly input: string | Uint8Array;
}

/** The first line. It only ever grows at its end. */
type Head = [
  id: string,
  projectId: string,
  createdAt: number,
  expiresAt: number,
  previousId: string | null,
  conversationId: string | null,
  bytes: number,
  places: readonly string[],
];

/** For the next entry; it grows with the largest of them. */
let room = Buffer.allocUnsafeSlow(16_384);

/** @returns bytes that are valid until the next call */
export function encodeEntry(row: ResponseRow): Uint8Array {
  const { id, projectId, createdAt, expiresAt, previousId, conversationId, bytes, places } = row;
  const head: Head = [id, projectId, createdAt, expiresAt, previousId, conversationId, bytes, places];
  const first = JSON.stringify(head);
  const most = (first.length + row.response.length + row.input.length) * MOST_BYTES_PER_UNIT + 2;
  if (room.length < most) room = Buffer.allocUnsafeSlow(most);
  let end = room.write(first);
  room[end++] = LINE_BREAK;
  end += room.write(row.response, end);
  room[end++] = LINE_BREAK;
  end += room.write(row.input, end);
  return room.subarray(0, end);
}

/**
 * The row of an entry. Its texts are views of the entry's bytes.
 * @throws RangeError for bytes that `encodeEntry` has not made
 */
export function decodeEntry(content: Uint8Array): ArrivingRow {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const first = text.indexOf(LINE_BREAK);
  const second = text.indexOf(LINE_BREAK, first + 1);
  if (first < 0 || second < 0) throw new RangeError('a stored response of less than three lines');
  const [id, projectId, createdAt, expiresAt, previousId, conversationId, bytes, places] = headOf(
    text.toString('utf8', 0, first),
  );
  return {
    id,
    projectId,
    createdAt,
    expiresAt,
    previousId,
    conversationId,
    bytes,
    places,
    response: text.subarray(first + 1, second),
    input: text.subarray(second + 1),
  };
}

function headOf(line: string): Head {
  try {
    return JSON.parse(line) as Head;
  } catch (cause) {
    throw new RangeError('a stored response whose first line is no JSON', { cause });
  }
}
