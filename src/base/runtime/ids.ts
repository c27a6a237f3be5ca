// Creates ids. They begin with the time, so that rows of one hour are adjacent in an index.
import type { UnixMs } from '../units.ts';

const POOL_BYTES = 4096;
/** Random bytes as hex, and the number of characters that have been used. */
let pool = '';
let used = 0;
/** Latest time in an id, and its hex form. */
let stampedMs = -1;
let stamp = '';

/** Random bytes as lower-case hex. */
function randomHex(bytes: number): string {
  const from = used;
  used += 2 * bytes;
  if (used <= pool.length) return pool.slice(from, used);
  pool = crypto.getRandomValues(Buffer.alloc(POOL_BYTES)).toString('hex');
  used = 2 * bytes;
  return pool.slice(0, used);
}

/** A new id: 32 lower-case hex characters, 12 of time (milliseconds) and 20 random. */
export function newGenerationId(nowMs: UnixMs): string {
  if (nowMs !== stampedMs) {
    stampedMs = nowMs;
    stamp = nowMs.toString(16).padStart(12, '0');
  }
  return stamp + randomHex(10);
}

/** Generation id within the id of an answer (`resp_…`, `msg_…`). Generation ids contain no underscore. */
export function generationOf(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** `prefix` followed by 24 random hex characters. */
export function newId(prefix: string): string {
  return prefix + randomHex(12);
}
