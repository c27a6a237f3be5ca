// CPU time of a record after its request was answered, until it is in the database and in the sums. `node bin/bun.mjs
// run bench/ledger-writes.ts [--keys one|turns|random] [--batch RECORDS] [TREE]…` measures the storage of each source
// tree in alternation. Keys: a single one, 40 in rotation (default), or 3,000 at random with six models, so that few
// records of a batch share a row of sums. A batch is the number of records that are written to the database at a time
// (500). Background work on sums is measured separately.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { newGenerationId } from '../src/base/runtime/ids.ts';
import type { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { sampleRecord } from './sample-records.ts';

const ROUNDS = 15;
const RECORDS = 4_000;
const RANDOM_KEYS = 3_000;
/** Milliseconds between two records: 500 per second. */
const INTERVAL_MS = 2;

const { values, positionals } = parseArgs({
  options: { keys: { type: 'string', default: 'turns' }, batch: { type: 'string', default: '500' } },
  allowPositionals: true,
});
const BATCH = Number(values.batch);

/** Key and sample number of a record. */
function choose(number: number): { readonly keyId?: string; readonly number: number } {
  if (values.keys === 'one') return { keyId: 'key_one', number: number % 40 };
  if (values.keys === 'turns') return { number };
  // A multiplicative generator, so that all trees get the same records.
  const random = (Math.imul(number + 1, 0x9e3779b1) >>> 8) / 2 ** 24;
  return { keyId: `key_${Math.floor(random * RANDOM_KEYS)}`, number: Math.imul(number, 40) + (number % 40) };
}

interface Measured {
  readonly round: () => Promise<number>;
  /** CPU time of background work on all sums so far, in microseconds per record. */
  readonly rest: () => Promise<number>;
}

/** Prepares a storage for records of a busy gateway, each with one attempt. */
async function measureTree(tree: string): Promise<Measured> {
  const { openSqliteStorage: open } = (await import(join(tree, 'src/storage/sqlite/storage.ts'))) as {
    openSqliteStorage: typeof openSqliteStorage;
  };
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-writes-'));
  const storage = await open({ path: join(folder, 'dragoman.db'), later: () => {} });
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  let nowMs = Date.UTC(2026, 10, 22);
  let written = 0;
  return {
    async round() {
      const from = process.cpuUsage();
      for (let at = 0; at < RECORDS; at += 1) {
        nowMs += INTERVAL_MS;
        written += 1;
        const { number, ...own } = choose(written);
        const { generation, attempts } = sampleRecord(newGenerationId(nowMs), nowMs, number);
        storage.ledger.append(
          own.keyId ? { ...generation, ...own, projectId: own.keyId } : generation,
          attempts,
        );
        if (at % BATCH === BATCH - 1) await storage.ledger.find('none', 'nobody');
      }
      const used = process.cpuUsage(from);
      return (used.user + used.system) / RECORDS;
    },
    async rest() {
      const from = process.cpuUsage();
      await storage.usage.query({ fromMs: 0, toMs: nowMs, interval: null, groupBy: [], filters: {} });
      while (await storage.usage.maintain(nowMs + 2 * 3_600_000));
      const used = process.cpuUsage(from);
      return (used.user + used.system) / written;
    },
  };
}

if (import.meta.main) {
  const trees = positionals.map((tree) => resolve(tree));
  if (trees.length === 0) trees.push(join(import.meta.dirname, '..'));
  const measured: ({ readonly tree: string; readonly us: number[] } & Measured)[] = [];
  for (const tree of trees) measured.push({ tree, us: [], ...(await measureTree(tree)) });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const each of measured) each.us.push(await each.round());
  for (const { tree, us, rest } of measured) {
    const warm = us.slice(3).toSorted((a, b) => a - b);
    console.log(
      `${tree}: ${(warm[Math.floor(warm.length / 2)] ?? 0).toFixed(2)} µs per record (minimum ${(warm[0] ?? 0).toFixed(2)}), ${(await rest()).toFixed(2)} in the background`,
    );
  }
  process.exit(0);
}
