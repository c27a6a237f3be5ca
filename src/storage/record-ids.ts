// Ids of records as rows have them: 16 bytes of which the first 6 are the time, so that rows lie in the order of their
// requests. Counts that came late lie beside their request: theirs is the time of that one.

/** Length of the time in an id, in bytes, and of the whole. */
const TIME_BYTES = 6;
const ID_BYTES = 16;

/** The gateway's own ids as 16 bytes, others as they are. */
export function storedId(id: string): Uint8Array | string {
  return /^[0-9a-f]{32}$/.test(id) ? Buffer.from(id, 'hex') : id;
}

export function textId(id: Uint8Array | string): string {
  return typeof id === 'string' ? id : Buffer.from(id).toString('hex');
}

/** Unix milliseconds in an id. */
export function timeOf(id: Uint8Array): number {
  let time = 0;
  for (let at = 0; at < TIME_BYTES; at += 1) time = time * 256 + (id[at] ?? 0);
  return time;
}

/** What is before all ids of a time, and after those of the time before. @param ms Unix milliseconds, rounded up */
export function firstIdAt(ms: number): Uint8Array {
  const id = Buffer.alloc(ID_BYTES);
  id.writeUIntBE(Math.min(Math.max(0, Math.ceil(ms)), 256 ** TIME_BYTES - 1), 0, TIME_BYTES);
  return id;
}

/** Whether a record lies where its time is: those that do not are listed apart. */
export function liesAtItsTime(id: Uint8Array | string, createdAt: number): boolean {
  return typeof id !== 'string' && timeOf(id) === createdAt;
}
