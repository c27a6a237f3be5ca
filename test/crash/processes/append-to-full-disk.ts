// Appends records until one is refused, and prints every id whose append has returned, then the refusal: run by
// journal.test.ts with a limit on the size of files, which is met in the middle of an entry.
import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { generation } from '../../support/storage/storage-records.ts';

/** Prints a line before it returns: SIGKILL discards what `process.stdout` has buffered. */
const print = (line: string): unknown => writeSync(1, `${line}\n`);

const storage = await openSqliteStorage({ path: process.argv[2] ?? '', later: () => {} });
try {
  for (let i = 0; ; i++) {
    storage.ledger.append(generation(`gen-${i}`, { metadata: { text: 'x'.repeat(1_000 + (i % 7)) } }), []);
    print(`gen-${i}`);
  }
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
}
// A smaller one still fits.
storage.ledger.append(generation('gen-small'), []);
print('gen-small');
process.kill(process.pid, 'SIGKILL');
