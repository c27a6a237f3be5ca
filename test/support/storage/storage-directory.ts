// A directory of its own for each database of a test, deleted when the test is over; and a clock that tests turn.
import { afterEach } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** Path at which a database may be made. */
export function freshPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-storage-'));
  made.push(directory);
  return join(directory, 'data', 'dragoman.db');
}

/** A clock of which every look takes some time, in milliseconds: what is bounded by time is bounded by looks. */
export function lookingClock(lookMs: number): () => number {
  let nowMs = 0;
  return () => (nowMs += lookMs);
}
