// The one place that makes ids. They begin with the time, so that rows of one hour lie together in an index.

const POOL = new Uint8Array(4096);
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
let used = POOL.length;

/** `bytes` random bytes as lower-case hex. */
function randomHex(bytes: number): string {
  if (used + bytes > POOL.length) {
    crypto.getRandomValues(POOL);
    used = 0;
  }
  let text = '';
  for (const end = used + bytes; used < end; used++) text += HEX[POOL[used] ?? 0];
  return text;
}

/** A new id: 32 lower-case hex characters, 12 of time (milliseconds) and 20 random. */
export function newGenerationId(nowMs: number): string {
  return nowMs.toString(16).padStart(12, '0') + randomHex(10);
}

/** `prefix` followed by 24 random hex characters. */
export function newId(prefix: string): string {
  return prefix + randomHex(12);
}
