// Leases of a process that was killed, in its SQLite database. They run out at once, so that a test need not wait for their end.
import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/** @param dataDir of a program that does not run */
export function endLeases(dataDir: string): void {
  const database = new Database(join(dataDir, 'dragoman.db'));
  try {
    database.run("update jobs set run_after = 0 where state = 'running'");
  } finally {
    database.close();
  }
}
