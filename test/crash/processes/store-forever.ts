// Stores responses with their records and their conversation's items until it is killed, and prints every id once
// its promises have resolved: run by storage-durability.test.ts.
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { attempt, generation, storedResponse } from '../../support/storage/storage-records.ts';

const storage = await openSqliteStorage({ path: process.argv[2] ?? '' });
const run = process.argv[3] ?? '';
async function client(name: number): Promise<never> {
  const conversation = `conv_${run}${name}`;
  const scope = { projectId: 'key_a', createdAt: 0, expiresAt: null };
  await storage.conversations.create({ ...scope, id: conversation, metadata: {} }, []);
  for (let i = 0; ; i++) {
    const id = `${run}${name}x${i}`;
    const response = storedResponse(`resp_${id}`, { ...scope, conversationId: conversation });
    await storage.responses.put(response, { appendTo: conversation });
    storage.ledger.append(generation(`gen-${id}`), [attempt(`${id}-a`, `gen-${id}`)]);
    process.stdout.write(`${id}\n`);
  }
}
await Promise.all([client(0), client(1), client(2), client(3)]);
