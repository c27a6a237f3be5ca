// Ids of records as stored: 16 bytes that begin with a 6-byte time, so that rows are in order of time and a day is a
// range. Deferred usage has the time of its request, and follows it. Ids in other formats come last.
import type { UnixMs } from '../base/units.ts';

const TIME_BYTES = 6;
const ID_BYTES = 16;
/** First byte of an id in another format. As part of a time it would mean the year 10,800. */
const FOREIGN = 0xff;

/** Greater than every id that contains a time. */
export const END_OF_TIMES: Buffer = Buffer.of(FOREIGN);

/** @param id text, or the 16 bytes of a gateway id */
export function rowId(id: string | Uint8Array): Buffer {
  if (typeof id !== 'string')
    return id[0] === FOREIGN ? rowId(textId(id)) : Buffer.from(id.buffer, id.byteOffset, id.byteLength);
  if (/^[0-9a-f]{32}$/.test(id) && !id.startsWith('ff')) return Buffer.from(id, 'hex');
  return Buffer.concat([END_OF_TIMES, Buffer.from(id)]);
}

/** Text of a row's id. */
export function idOfRow(row: Uint8Array): string {
  return row[0] === FOREIGN ? Buffer.from(row.subarray(1)).toString() : textId(row);
}

/** Bytes of an id as hexadecimal digits. */
export function textId(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

/** Unix milliseconds contained in an id. `null`: none. */
export function timeOf(row: Uint8Array): UnixMs | null {
  if (row[0] === FOREIGN || row.length < TIME_BYTES) return null;
  let time = 0;
  for (let at = 0; at < TIME_BYTES; at += 1) time = time * 256 + (row[at] ?? 0);
  return time;
}

/** Lower bound of the ids at or after a time. @param ms Unix milliseconds, rounded up */
export function firstIdAt(ms: number): Buffer {
  const id = Buffer.alloc(ID_BYTES);
  id.writeUIntBE(Math.min(Math.max(0, Math.ceil(ms)), 0xfe_ff_ff_ff_ff_ff), 0, TIME_BYTES);
  return id;
}

/** The id immediately after another. */
export function behind(id: Uint8Array): Buffer {
  return Buffer.concat([id, new Uint8Array(1)]);
}
