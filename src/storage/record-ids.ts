// Ids of records as rows have them: 16 bytes of which the first 6 are the time, so that rows lie in the order of their requests
// and a day is a range. Counts that came late lie beside their request: theirs is the time of that one. Ids of another form lie
// behind all of those.
import type { UnixMs } from '../base/units.ts';

const TIME_BYTES = 6;
const ID_BYTES = 16;
/** The first byte of an id of another form. As part of a time it would mean the year 10,800. */
const FOREIGN = 0xff;

/** An id behind every one that has a time. */
export const END_OF_TIMES: Buffer = Buffer.of(FOREIGN);

/** @param id as a text, or the 16 bytes of one of the gateway's own */
export function rowId(id: string | Uint8Array): Buffer {
  if (typeof id !== 'string')
    return id[0] === FOREIGN ? rowId(textId(id)) : Buffer.from(id.buffer, id.byteOffset, id.byteLength);
  if (/^[0-9a-f]{32}$/.test(id) && !id.startsWith('ff')) return Buffer.from(id, 'hex');
  return Buffer.concat([END_OF_TIMES, Buffer.from(id)]);
}

/** The id of a row. */
export function idOfRow(row: Uint8Array): string {
  return row[0] === FOREIGN ? Buffer.from(row.subarray(1)).toString() : textId(row);
}

/** Bytes of an id as hexadecimal digits. */
export function textId(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

/** Unix milliseconds in an id. `null`: it has none. */
export function timeOf(row: Uint8Array): UnixMs | null {
  if (row[0] === FOREIGN || row.length < TIME_BYTES) return null;
  let time = 0;
  for (let at = 0; at < TIME_BYTES; at += 1) time = time * 256 + (row[at] ?? 0);
  return time;
}

/** Lower bound of the ids of a time: above all ids of the time before. @param ms Unix milliseconds, rounded up */
export function firstIdAt(ms: number): Buffer {
  const id = Buffer.alloc(ID_BYTES);
  id.writeUIntBE(Math.min(Math.max(0, Math.ceil(ms)), 0xfe_ff_ff_ff_ff_ff), 0, TIME_BYTES);
  return id;
}

/** The id right behind another. */
export function behind(id: Uint8Array): Buffer {
  return Buffer.concat([id, new Uint8Array(1)]);
}
