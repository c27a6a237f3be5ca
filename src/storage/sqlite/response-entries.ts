// Stored responses as entries of a journal: a line that says what the row is, and a line each for its texts. JSON has no
// line breaks of its own, so nothing is escaped twice.
import type { ResponseRow } from '../state/response-rows.ts';

/** The kind of such entries; those of records have 1, and 2 are turns on their way to PostgreSQL. */
export const RESPONSE_ENTRY = 3;

const LINE_BREAK = 10;

export function encodeEntry({ response, input, ...row }: ResponseRow): Uint8Array {
  return Buffer.from(`${JSON.stringify(row)}\n${response}\n${input}`);
}

/** @throws RangeError for bytes that `encodeEntry` has not made */
export function decodeEntry(content: Uint8Array): ResponseRow {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const first = bytes.indexOf(LINE_BREAK);
  const second = bytes.indexOf(LINE_BREAK, first + 1);
  if (first < 0 || second < 0) throw new RangeError('a stored response of less than three lines');
  return {
    ...rowOf(bytes.toString('utf8', 0, first)),
    response: bytes.toString('utf8', first + 1, second),
    input: bytes.toString('utf8', second + 1),
  };
}

function rowOf(line: string): Omit<ResponseRow, 'response' | 'input'> {
  try {
    return JSON.parse(line) as Omit<ResponseRow, 'response' | 'input'>;
  } catch (cause) {
    throw new RangeError('a stored response whose first line is no JSON', { cause });
  }
}
