// Appends records until one is refused, and prints every id whose append has returned, then the refusal: run by
// journal.test.ts with a limit on the size of files, which is met in the middle of an entry.
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { generation } from '../../support/storage/storage-records.ts';

const storage = await openSqliteStorage({ path: process.argv[2] ?? '', later: () => {} });
try {
  for (let i = 0; ; i++) {
    storage.ledger.append(generation(`gen-${i}`, { metadata: { text: 'x'.repeat(1_000 + (i % 7)) } }), []);
    process.stdout.write(`gen-${i}\n`);
  }
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
// A smaller one still fits.
storage.ledger.append(generation('gen-small'), []);
process.stdout.write('gen-small\n');
process.kill(process.pid, 'SIGKILL');
