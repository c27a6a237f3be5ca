// Duration of reports, record lists and deletions on a large ledger. `node bin/bun.mjs run bench/usage-scale.ts
// [RECORDS] [DAYS]` creates one in a temporary folder (by default a million records of 40 keys and 6 models over 30
// days). Prints the duration of each query, and the longest time that the event loop was blocked.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newGenerationId } from '../src/base/runtime/ids.ts';
import type { Storage } from '../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { aligned } from './report.ts';
import { sampleRecord } from './sample-records.ts';

const DAY_MS = 24 * 3_600_000;
const END = Date.UTC(2026, 10, 1);

async function fill(storage: Storage, records: number, days: number): Promise<void> {
  for (let number = 0; number < records; number += 1) {
    const createdAt = END - days * DAY_MS + Math.floor((number * days * DAY_MS) / records);
    const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
    storage.ledger.append(generation, attempts);
    if (number % 2_000 === 0) await storage.ledger.findOfAnybody('none');
  }
}

interface Figure {
  readonly ms: number;
  /** Longest time in milliseconds that the event loop was blocked. */
  readonly blockedMs: number;
}

async function measured(work: () => Promise<unknown>): Promise<Figure> {
  let blockedMs = 0;
  let last = performance.now();
  let goesOn = true;
  const watch = (): void => {
    const now = performance.now();
    blockedMs = Math.max(blockedMs, now - last);
    last = now;
    if (goesOn) setImmediate(watch);
  };
  setImmediate(watch);
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  goesOn = false;
  await new Promise((resolve) => setImmediate(resolve));
  return { ms, blockedMs };
}

if (import.meta.main) {
  const [records = 1_000_000, days = 30] = process.argv.slice(2).map(Number);
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-scale-'));
  const path = join(folder, 'dragoman.db');
  try {
    const storage = await openSqliteStorage({ path, later: () => {} });
    const { cpu, ms } = await timed(() => fill(storage, records, days));
    console.log(
      `${records} records: ${(ms / 1000).toFixed(0)} s, ${((cpu * 1000) / records).toFixed(1)} µs of CPU each`,
    );
    while (await storage.usage.maintain(END));
    console.log(`${(statSync(path).size / records).toFixed(0)} bytes each, with their sums`);
    const month = { fromMs: END - 30 * DAY_MS, toMs: END, interval: null, groupBy: [], filters: {} } as const;
    const list = { order: 'desc', limit: 50 } as const;
    const questions: Readonly<Record<string, () => Promise<unknown>>> = {
      'a month by model': () => storage.usage.query({ ...month, groupBy: ['model'] }),
      'a month by day and key': () => storage.usage.query({ ...month, interval: 'day', groupBy: ['key'] }),
      'a week by hour': () => storage.usage.query({ ...month, fromMs: END - 7 * DAY_MS, interval: 'hour' }),
      'the newest 50': () => storage.ledger.list({ ...list, filters: {} }),
      'the newest 50 failures of a key': () =>
        storage.ledger.list({ ...list, filters: { key: ['key_0'], outcome: ['failed'] } }),
      'a value without records': () =>
        storage.ledger.list({ ...list, filters: { model: ['nobody/nothing'] } }),
      'sums of all time by key, for limits': async () => {
        const query = { by: 'key', byEndUser: false, fromMs: 0, inSlices: false } as const;
        for await (const _ of storage.usage.read(query));
      },
      'deleting 100 steps of records': async () => {
        for (let step = 0; step < 100; step += 1) {
          await storage.ledger.purge(END);
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    };
    // Warm-up, so that compilation is not measured.
    await questions['a month by model']?.();
    const rows: string[][] = [['question', 'ms', 'longest step']];
    for (const [name, ask] of Object.entries(questions)) {
      const figure = await measured(ask);
      rows.push([name, figure.ms.toFixed(0), figure.blockedMs.toFixed(1)]);
    }
    console.log(aligned(rows));
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit(0);
}

async function timed(work: () => Promise<void>): Promise<{ readonly cpu: number; readonly ms: number }> {
  const from = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(from);
  return { cpu: (user + system) / 1000, ms: performance.now() - start };
}
