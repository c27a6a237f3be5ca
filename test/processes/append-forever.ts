// Appends records until it is killed, and prints every id once its promise has resolved: run by
// ledger-durability.test.ts.
import { openSqliteStorage } from '../../src/storage/sqlite-storage.ts';
import { attempt, generation } from '../storage-records.ts';

const storage = await openSqliteStorage({ path: process.argv[2] ?? '' });
const run = process.argv[3] ?? '';
async function client(name: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `gen-${run}-${name}-${i}`;
    await storage.ledger.append(generation(id), [attempt(`${id}-a`, id)]);
    process.stdout.write(`${id}\n`);
  }
}
await Promise.all([client(0), client(1), client(2), client(3)]);
