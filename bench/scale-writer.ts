// One of several processes that write to the same SQLite database at full speed: records in batches, as a gateway
// writes them after a tick, or stored responses, each with a waiting client.
//
// node bin/bun.mjs run bench/scale-writer.ts '{"path": "/…/dragoman.db", "what": "records", "seconds": 3}' waits for
// a line on standard input, writes, and prints one JSON object.
import { newGenerationId } from '../src/base/runtime/ids.ts';
import type { Storage } from '../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { sampleRecord, sampleResponse } from './sample-records.ts';
import { quantile } from './steady.ts';

/** Records per batch. */
export const BATCH = 50;
/** Number of concurrently waiting responses. */
const AT_ONCE = 8;

export interface Writing {
  readonly path: string;
  readonly what: 'records' | 'responses';
  readonly seconds: number;
}

export interface Written {
  /** Number of records or responses. */
  readonly count: number;
  /** Milliseconds until a batch or a response was written. */
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
}

async function write({ path, what, seconds }: Writing): Promise<Written> {
  const storage = await openSqliteStorage({ path, later: () => {} });
  const waits: number[] = [];
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const from = process.cpuUsage();
  const until = performance.now() + seconds * 1000;
  const goOn = async (): Promise<void> => {
    for (let number = 0; performance.now() < until; number += 1) {
      const began = performance.now();
      await STEPS[what](storage, number);
      waits.push(performance.now() - began);
    }
  };
  await (what === 'records' ? goOn() : Promise.all(Array.from({ length: AT_ONCE }, goOn)));
  const { user, system } = process.cpuUsage(from);
  await storage.close();
  return {
    count: waits.length * (what === 'records' ? BATCH : 1),
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    cpuMs: (user + system) / 1000,
  };
}

const STEPS: Readonly<Record<Writing['what'], (storage: Storage, number: number) => Promise<void>>> = {
  async records(storage, number) {
    const nowMs = Date.now();
    for (let at = 0; at < BATCH; at += 1) {
      const { generation, attempts } = sampleRecord(newGenerationId(nowMs), nowMs, number * BATCH + at);
      storage.ledger.append(generation, attempts);
    }
    // Waits until the records are in the database.
    await storage.ledger.findOfAnybody('none');
  },
  async responses(storage) {
    await storage.responses.put(sampleResponse(Date.now()));
  },
};

if (import.meta.main) {
  const written = await write(JSON.parse(process.argv[2] ?? '') as Writing);
  process.stdout.write(`${JSON.stringify(written)}\n`);
  process.exit(0);
}
