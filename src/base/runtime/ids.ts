// The one place that makes ids. They begin with the time, so that rows of one hour lie together in an index.
import type { UnixMs } from '../units.ts';

const POOL_BYTES = 4096;
/** Random bytes as hex, and how much of it was given away, in characters. */
let pool = '';
let used = 0;
/** The latest time in an id, and how it is written there. */
let stampedMs = -1;
let stamp = '';

/** `bytes` random bytes as lower-case hex. */
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

/** The id of a generation in that of its answer: each protocol puts a prefix before it (`resp_…`, `msg_…`); the id has no underscore. */
export function generationOf(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** `prefix` followed by 24 random hex characters. */
export function newId(prefix: string): string {
  return prefix + randomHex(12);
}
