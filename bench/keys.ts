// Cost of 100,000 stored keys with limits: at the start, per check for changes, and after a change of one key. `node
// bin/bun.mjs run bench/keys.ts` prints it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heapStats } from 'bun:jsc';
import { KeyCommands, KeyIndex } from '../src/accounts/auth/index.ts';
import { openLimits } from '../src/app/cli/compose/open-limits.ts';
import { loadConfig } from '../src/app/config/index.ts';
import { systemClock } from '../src/base/runtime/clock.ts';
import { openSqlite } from '../src/base/runtime/sqlite.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { createLogger } from '../src/base/telemetry/log.ts';

const KEYS = 100_000;
/** Number of checks for changes, whose mean is reported. */
const LOOKS = 200;

const folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
const path = join(folder, 'dragoman.db');

/** Stores keys, each with different limits and a different budget. */
function fill(): void {
  const database = openSqlite(path);
  const insert = database.prepare(
    'insert into keys (id, name, hash, hint, created_at, log_content, models, limits, budgets) values (?, ?, ?, ?, ?, 0, ?, ?, ?)',
  );
  database.exec('begin');
  for (let at = 0; at < KEYS; at += 1) {
    const id = at.toString(16).padStart(16, '0');
    insert.run(
      `key_${id}`,
      `developer ${at}`,
      id.repeat(4),
      'sk-dm-v1-ab…wxyz',
      at,
      '["openai/*","sim/*"]',
      JSON.stringify([{ requests: 1_000 + at, per: 'minute' }, { concurrent: 1 + (at % 50) }]),
      JSON.stringify([{ usd: 1 + at / 100, per: 'day' }]),
    );
  }
  database.exec('commit');
  database.close();
}

const cpuMs = (since: NodeJS.CpuUsage): string => {
  const { user, system } = process.cpuUsage(since);
  return `${((user + system) / 1000).toFixed(1)} ms`;
};

function heapMb(): number {
  Bun.gc(true);
  return heapStats().heapSize / 1e6;
}

await (await openSqliteStorage({ path })).close();
fill();
const storage = await openSqliteStorage({ path });
const pepper = await storage.secret('pepper');
const { config } = loadConfig({ environment: {}, flags: { config: 'x' }, readFile: () => '' });
const [heapBefore, residentBefore] = [heapMb(), process.memoryUsage.rss() / 1e6];

let from = process.cpuUsage();
const index = new KeyIndex({
  storage,
  pepper,
  configured: { keys: [] },
  onChange: (changed) => opened.refresh(changed),
});
const log = createLogger({
  level: 'error',
  write: (line) => void process.stderr.write(line),
  now: Date.now,
  pretty: false,
  redact: (text) => text,
});
const opened = openLimits({
  config: () => config,
  keys: index,
  ledger: storage.usage,
  clock: systemClock,
  log,
  sharing: null,
});
await index.refresh();
const readMs = cpuMs(from);
await opened.restored();
console.log(`start: ${cpuMs(from)} of CPU, ${readMs} of it until the keys are loaded`);
process.stdout.write(
  `memory: ${(heapMb() - heapBefore).toFixed(1)} MB of heap, resident ${(process.memoryUsage.rss() / 1e6 - residentBefore).toFixed(1)} MB additional\n`,
);

const { limiter } = opened.limits;
const [answeredFrom, answeredHeap] = [process.cpuUsage(), heapMb()];
for (const tenant of index.principals()) {
  const scopes = opened.limits.scopesOf(tenant);
  const estimate = { model: 'sim/chat', endUser: null, tokens: 1_000, nanoUsd: 1_000_000 };
  const admitted = limiter.admit(scopes, estimate, Date.now() + 60_000);
  if (admitted.type !== 'refusal') limiter.settle(admitted, { requests: 1, tokens: 900, nanoUsd: 900_000 });
}
console.log(
  `one request per key: ${cpuMs(answeredFrom)}, ${(heapMb() - answeredHeap).toFixed(1)} MB more of heap`,
);

from = process.cpuUsage();
for (let look = 0; look < LOOKS; look += 1) await index.refresh();
console.log(`${LOOKS} checks for changes: ${cpuMs(from)}`);

const commands = new KeyCommands({
  storage,
  pepper,
  configured: () => ({ keys: [] }),
  now: Date.now,
  entryOf: (change) => ({
    ...change,
    id: 'audit_bench',
    createdAt: 0,
    actor: { id: 'operator', name: 'bench', address: null },
    requestId: null,
  }),
});
await commands.change('key_0000000000000001', { strict: true });
from = process.cpuUsage();
await index.refresh();
console.log(`a change of one key: ${cpuMs(from)}`);
await storage.close();
rmSync(folder, { recursive: true, force: true });
