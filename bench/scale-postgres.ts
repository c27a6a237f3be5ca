// Write capacity of one PostgreSQL server: records in batches of several sizes over several connections, as gateways
// write them, and the bytes of each in the database.
import { Client } from 'pg';
import { newGenerationId } from '../src/base/runtime/ids.ts';
import { openWith } from '../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../src/storage/tables/stores.ts';
import type { PostgresServer } from '../test/support/servers/postgres.ts';
import { familyCpuMs } from './processes.ts';
import { sampleRecord, sampleResponse } from './sample-records.ts';
import { quantile } from './steady.ts';

export interface Taken {
  /** Records per batch, which is one transaction. */
  readonly batch: number;
  readonly perSecond: number;
  /** CPU microseconds per record: of the server, and of the writer. */
  readonly serverUs: number;
  readonly writerUs: number;
  /** Bytes per record: in tables and indexes, and in the write-ahead log. */
  readonly bytes: number;
  readonly walBytes: number;
}

/** Number of concurrent writers. */
const WRITERS = 3;

export interface ResponsesStored {
  readonly processes: number;
  /** Waiting clients of all processes together. */
  readonly atOnce: number;
  readonly perSecond: number;
  /** Milliseconds until a response was stored. */
  readonly p50: number;
  readonly p99: number;
  /** CPU microseconds per response: of the server, and of the writer. */
  readonly serverUs: number;
  readonly writerUs: number;
}

/** Stores responses of one project for some seconds. @param atOnce clients of each process */
export async function responsesStored(
  server: PostgresServer,
  { processes, atOnce, seconds }: { processes: number; atOnce: number; seconds: number },
): Promise<ResponsesStored> {
  const storages = [];
  for (let each = 0; each < processes; each += 1)
    storages.push(
      await openWith(POSTGRES_STORES, {
        url: server.url,
        later: () => {},
        maxBytesPerKey: () => Number.MAX_SAFE_INTEGER,
      }),
    );
  try {
    const waits: number[] = [];
    const cpu = process.cpuUsage();
    const serverMs = familyCpuMs(server.pid);
    const began = performance.now();
    const until = began + seconds * 1000;
    await Promise.all(
      storages.flatMap(({ responses }) =>
        Array.from({ length: atOnce }, async () => {
          while (performance.now() < until) {
            const from = performance.now();
            await responses.put(sampleResponse(Date.now()));
            waits.push(performance.now() - from);
          }
        }),
      ),
    );
    const { user, system } = process.cpuUsage(cpu);
    return {
      processes,
      atOnce: processes * atOnce,
      perSecond: (waits.length * 1000) / (performance.now() - began),
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
      serverUs: (1000 * (familyCpuMs(server.pid) - serverMs)) / waits.length,
      writerUs: (user + system) / waits.length,
    };
  } finally {
    for (const storage of storages) await storage.close();
  }
}

/** Writes records for some seconds. @param batch records per transaction */
export async function recordsTaken(server: PostgresServer, batch: number, seconds: number): Promise<Taken> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const storages = [];
  // Sequential, because the first one creates the tables.
  for (let writer = 0; writer < WRITERS; writer += 1)
    storages.push(await openWith(POSTGRES_STORES, { url: server.url, later: () => {} }));
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
          // Waits until the records are in the database.
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
