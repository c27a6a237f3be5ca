// Opens the storage at the given path and prints a secret: run twice at once by storage.test.ts.
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';

const storage = await openSqliteStorage({ path: process.argv[2] ?? '' });
console.log(Buffer.from(await storage.secret('pepper')).toString('hex'));
await storage.close();
