// CPU time that a record costs after its request was answered: until it is in the database and in the sums.
// `node bin/bun.mjs run bench/ledger-writes.ts [--diverse] [TREE]…` measures the storage of each source tree, in turns. With
// `--diverse` hardly two records are of the same key and model, so that each has rows of its own in the sums.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { newGenerationId } from '../src/runtime/ids.ts';
import type { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { sampleRecord } from './sample-records.ts';

const ROUNDS = 15;
const RECORDS = 4_000;
/** Without a common divisor: so many records are all of different pairs. */
const [DIVERSE_KEYS, DIVERSE_MODELS] = [1_009, 211] as const;

const { values, positionals } = parseArgs({
  options: { diverse: { type: 'boolean', default: false } },
  allowPositionals: true,
});

/** Records as a busy gateway has them: of some keys and models, each with one attempt. */
async function measureTree(tree: string): Promise<() => Promise<number>> {
  const { openSqliteStorage: open } = (await import(join(tree, 'src/storage/sqlite/storage.ts'))) as {
    openSqliteStorage: typeof openSqliteStorage;
  };
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-writes-'));
  const storage = await open({ path: join(folder, 'dragoman.db'), later: () => {} });
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  let nowMs = Date.UTC(2026, 10, 22);
  let number = 0;
  return async () => {
    const from = process.cpuUsage();
    for (let at = 0; at < RECORDS; at += 1) {
      nowMs += 1;
      number += 1;
      const { generation, attempts } = sampleRecord(newGenerationId(nowMs), nowMs, number);
      const own = values.diverse
        ? {
            ...generation,
            keyId: `key_${number % DIVERSE_KEYS}`,
            model: `model/${number % DIVERSE_MODELS}`,
            endUser: createHash('sha256').update(String(number)).digest('hex').slice(0, 32),
          }
        : generation;
      storage.ledger.append(own, attempts);
      if (at % 500 === 499) await storage.ledger.find('none', 'nobody');
    }
    const used = process.cpuUsage(from);
    return (used.user + used.system) / RECORDS;
  };
}

if (import.meta.main) {
  const trees = positionals.map((tree) => resolve(tree));
  if (trees.length === 0) trees.push(join(import.meta.dirname, '..'));
  const measured = await Promise.all(
    trees.map(async (tree) => ({ tree, round: await measureTree(tree), us: [] as number[] })),
  );
  for (let round = 0; round < ROUNDS; round += 1)
    for (const each of measured) each.us.push(await each.round());
  for (const { tree, us } of measured) {
    const warm = us.slice(3).toSorted((a, b) => a - b);
    console.log(
      `${tree}: ${(warm[Math.floor(warm.length / 2)] ?? 0).toFixed(2)} µs per record (least ${(warm[0] ?? 0).toFixed(2)})`,
    );
  }
  process.exit(0);
}
