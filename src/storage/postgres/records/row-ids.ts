// Ids of records as PostgreSQL has them: bytes of which the first six are the time, so that a day is a range of them; others
// behind all of those.
import { storedId, timeOf } from '../../record-ids.ts';

/** The first byte of an id that is none of the gateway's own. As part of a time it would mean the year 10,800. */
const WITHOUT_DAY = 0xff;
const DAY_MS = 86_400_000;

/** Behind every id that has a day. */
export const END_OF_DAYS: Buffer = Buffer.of(WITHOUT_DAY);

export function rowId(id: string): Buffer {
  const bytes = storedId(id);
  if (typeof bytes !== 'string' && bytes[0] !== WITHOUT_DAY) return Buffer.from(bytes);
  return Buffer.concat([END_OF_DAYS, Buffer.from(id)]);
}

/** The id of a row. */
export function idOfRow(bytes: Buffer): string {
  return bytes[0] === WITHOUT_DAY ? bytes.subarray(1).toString() : bytes.toString('hex');
}

/** Days since 1970, UTC; null for an id without one. */
export function dayOf(rowId: Buffer): number | null {
  return rowId[0] === WITHOUT_DAY ? null : Math.floor(timeOf(rowId) / DAY_MS);
}

/** The day that a time lies in. @param ms Unix milliseconds */
export function dayAt(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Unix milliseconds at which a day begins. */
export function startOfDay(day: number): number {
  return day * DAY_MS;
}
