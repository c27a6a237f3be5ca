// How long reports take on PostgreSQL over the sums of a month of many records. `node bin/bun.mjs run bench/usage-postgres.ts
// [RECORDS]` starts a server of its own, writes some records through the ledger, and multiplies their sums inside the database:
// hours of 30 days for 40 keys and 6 models, as if RECORDS (20 million unless said otherwise) had been written. Reports read
// nothing but sums, so that the records themselves are not needed.
import { Client } from 'pg';
import { newGenerationId } from '../src/runtime/ids.ts';
import { openWith } from '../src/storage/postgres/storage.ts';
import { STORES } from '../src/storage/postgres/stores.ts';
import { USAGE_COUNTS } from '../src/usage/index.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import { sampleRecord } from './sample-records.ts';

const HOUR_MS = 3_600_000;
const END = Date.UTC(2026, 10, 1);
const [DAYS, KEYS, MODELS, SAMPLES] = [30, 40, 6, 200] as const;

const records = Number(process.argv[2] ?? 20_000_000);
const server = await startPostgres({ shared_buffers: '256MB' });
const storage = await openWith(STORES, { url: server.url, later: () => {} });
const client = new Client({ connectionString: server.url });
await client.connect();
try {
  const began = performance.now();
  for (let number = 0; number < SAMPLES; number += 1) {
    const createdAt = END + number;
    const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
    storage.ledger.append({ ...generation, keyId: 'sample', projectId: 'sample', model: 'sample' }, attempts);
  }
  await storage.usage.query({ fromMs: 0, toMs: END, interval: null, groupBy: [], filters: {} });
  const each = records / (DAYS * 24 * KEYS * MODELS);
  for (const [table, periods, first, factor] of [
    ['usage_hourly', DAYS * 24, END / HOUR_MS - DAYS * 24, each],
    ['usage_daily', DAYS, END / HOUR_MS / 24 - DAYS, each * 24],
  ] as const)
    await client.query(`
      insert into ${table} (period, project, key, model, provider, endpoint, protocol, writer, batches, details,
        ${USAGE_COUNTS.join(', ')})
      select ${first} + p, 'project_' || k % 8, 'key_' || k, 'model_' || m, provider, endpoint, protocol, 0, 1, details,
        ${USAGE_COUNTS.map((count) => `round(${count} * ${factor / SAMPLES})`).join(', ')}
      from (select * from ${table} where key = 'sample' limit 1) s, generate_series(0, ${periods - 1}) p,
        generate_series(1, ${KEYS}) k, generate_series(1, ${MODELS}) m`);
  await client.query('analyze');
  console.log(`sums of ${records} records made in ${Math.round(performance.now() - began)} ms`);
  const month = { fromMs: END - DAYS * 24 * HOUR_MS, toMs: END, filters: {} } as const;
  for (const [name, query] of Object.entries({
    'total of a month': { ...month, interval: null, groupBy: [] },
    'a month by model': { ...month, interval: null, groupBy: ['model'] },
    'a month by day and model': { ...month, interval: 'day', groupBy: ['model'] },
    'a month by key': { ...month, interval: null, groupBy: ['key'] },
    'one key by hour': { ...month, interval: 'hour', groupBy: [], filters: { key: ['key_7'] } },
  } as const)) {
    const times: number[] = [];
    let rows = 0;
    for (let round = 0; round < 5; round += 1) {
      const start = performance.now();
      ({ length: rows } = (await storage.usage.query(query)).rows);
      times.push(performance.now() - start);
    }
    const [best = 0, , middle = 0] = times.toSorted((a, b) => a - b);
    console.log(`${name}: ${rows} rows, ${best.toFixed(0)} ms at best, ${middle.toFixed(0)} ms usually`);
  }
} finally {
  await client.end();
  await storage.close();
  await server.stop();
}
