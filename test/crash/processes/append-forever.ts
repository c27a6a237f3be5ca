// Appends records until it is killed, and prints every id once its append has returned: run by
// ledger-durability.test.ts.
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const storage = await openSqliteStorage({
  path: process.argv[2] ?? '',
  later: (task) => void setTimeout(task, 5),
});
const run = process.argv[3] ?? '';
async function client(name: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `gen-${run}-${name}-${i}`;
    storage.ledger.append(generation(id), [attempt(`${id}-0`, id)]);
    process.stdout.write(`${id}\n`);
    // Some of them are still in the journal, others on their way into the database.
    if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
await Promise.all([client(0), client(1), client(2), client(3)]);
