// What one PostgreSQL server takes: records in batches of several sizes, as gateways write them, by several connections at once,
// and what each leaves behind. Knows nothing of gateways.
import { Client } from 'pg';
import { newGenerationId } from '../src/runtime/ids.ts';
import { openWith } from '../src/storage/postgres/storage.ts';
import { STORES } from '../src/storage/postgres/stores.ts';
import type { PostgresServer } from '../test/servers/postgres.ts';
import { familyCpuMs } from './processes.ts';
import { sampleRecord } from './sample-records.ts';

export interface Taken {
  /** Records of a batch, which is a transaction. */
  readonly batch: number;
  readonly perSecond: number;
  /** CPU time of a record in microseconds: of the server, and of who writes. */
  readonly serverUs: number;
  readonly writerUs: number;
  /** Bytes of a record in tables and indexes, and in the write-ahead log. */
  readonly bytes: number;
  readonly walBytes: number;
}

/** Gateways that write at once. */
const WRITERS = 3;

/** Writes records for so many seconds. @param batch records of a transaction */
export async function recordsTaken(server: PostgresServer, batch: number, seconds: number): Promise<Taken> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const storages = [];
  // One after another: the first makes the tables.
  for (let writer = 0; writer < WRITERS; writer += 1)
    storages.push(await openWith(STORES, { url: server.url, later: () => {} }));
  try {
    const state = async (): Promise<{
      readonly bytes: number;
      readonly wal: number;
      readonly cpuMs: number;
    }> => {
      const { rows } = await client.query<{ bytes: string; wal: string }>(
        `select pg_database_size(current_database()) as bytes, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
      );
      return { bytes: Number(rows[0]?.bytes), wal: Number(rows[0]?.wal), cpuMs: familyCpuMs(server.pid) };
    };
    let written = 0;
    const until = performance.now() + seconds * 1000;
    const before = await state();
    const cpu = process.cpuUsage();
    const began = performance.now();
    await Promise.all(
      storages.map(async (storage) => {
        while (performance.now() < until) {
          const nowMs = Date.now();
          for (let at = 0; at < batch; at += 1) {
            written += 1;
            const { generation, attempts } = sampleRecord(newGenerationId(nowMs), nowMs, written);
            storage.ledger.append(generation, attempts);
          }
          // Waits until they are in the database.
          await storage.ledger.findOfAnybody('none');
        }
      }),
    );
    const passedMs = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    const after = await state();
    return {
      batch,
      perSecond: (written * 1000) / passedMs,
      serverUs: (1000 * (after.cpuMs - before.cpuMs)) / written,
      writerUs: (user + system) / written,
      bytes: (after.bytes - before.bytes) / written,
      walBytes: (after.wal - before.wal) / written,
    };
  } finally {
    for (const storage of storages) await storage.close();
    await client.end();
  }
}
