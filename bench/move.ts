// Duration of moving a data directory to PostgreSQL: `node bin/bun.mjs run bench/move.ts [records]`
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moveAll, openSource, openTarget } from '../src/storage/moving/move.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { startPostgres } from '../test/support/servers/postgres.ts';
import { sampleRecord } from './sample-records.ts';

const RECORDS = Number(process.argv[2] ?? 100_000);
const DAYS = 30;
const DAY_MS = 86_400_000;
const SECRET = new Uint8Array(32).fill(1);

const folder = mkdtempSync(join(tmpdir(), 'dragoman-move-'));
const made = join(folder, 'made');
const storage = await openSqliteStorage({ path: join(made, 'dragoman.db'), secrets: [SECRET] });
const start = Date.UTC(2026, 0, 1);
for (let n = 0; n < RECORDS; n += 1) {
  const createdAt = start + Math.floor((n / RECORDS) * DAYS * DAY_MS);
  const id = `${createdAt.toString(16).padStart(12, '0')}${String(n).padStart(20, '0')}`;
  const { generation, attempts } = sampleRecord(id, createdAt, n);
  storage.ledger.append(generation, attempts);
  if (n % 5_000 === 0) await storage.ledger.findOfAnybody('');
}
await storage.ledger.findOfAnybody('');
while (await storage.usage.maintain(start + DAYS * DAY_MS));
await storage.close();
// A copy, because this process may release the locks of the original late.
const dataDir = join(folder, 'data');
cpSync(made, dataDir, { recursive: true });

const server = await startPostgres();
const source = await openSource({ dataDir, secrets: [SECRET], notice: console.log });
const target = await openTarget(server.url, console.log);
let peak = 0;
const cpu = process.cpuUsage();
const began = performance.now();
await moveAll({
  source,
  target,
  dataDir,
  withBytes: true,
  secrets: [SECRET],
  last: () => Promise.resolve(),
  moved: () => (peak = Math.max(peak, process.memoryUsage.rss())),
});
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
console.log(
  `${RECORDS} records in ${seconds.toFixed(1)} s (${Math.round(RECORDS / seconds)}/s), ${((user + system) / 1e6).toFixed(1)} s of this process's CPU, at most ${Math.round(peak / 1e6)} MB`,
);
await target.close();
await source.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
