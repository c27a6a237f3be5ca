// Reads a file line by line without holding all of it in memory.
import { NO_JSON } from '../../base/json/index.ts';

/** A non-blank line. */
export interface FileLine {
  /** From 1, counting blank lines. */
  readonly number: number;
  /** Null: the line exceeds the maximum length. */
  readonly bytes: Buffer | null;
}

const NEWLINE = 10;
const EMPTY = NO_JSON.bytes;

/** @param most maximum bytes of a line */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  most: number,
): AsyncGenerator<FileLine, void, undefined> {
  let number = 1;
  let held: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer): FileLine | null => {
    const isLong = size + last.length > most;
    const bytes = isLong ? null : trimmed(held.length === 0 ? last : Buffer.concat([...held, last]));
    held = [];
    size = 0;
    const line = { number, bytes };
    number += 1;
    return bytes?.length === 0 ? null : line;
  };
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const line = take(bytes.subarray(from, at));
      from = at + 1;
      if (line) yield line;
    }
    const rest = bytes.subarray(from);
    size += rest.length;
    if (size > most) held = [];
    else if (rest.length > 0) held.push(Buffer.from(rest));
  }
  const line = size > 0 ? take(EMPTY) : null;
  if (line) yield line;
}

/** The line without surrounding white space and without a byte order mark. */
function trimmed(bytes: Buffer): Buffer {
  let from = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let to = bytes.length;
  const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 9 || byte === 13;
  while (from < to && isSpace(bytes[from])) from += 1;
  while (to > from && isSpace(bytes[to - 1])) to -= 1;
  return bytes.subarray(from, to);
}
