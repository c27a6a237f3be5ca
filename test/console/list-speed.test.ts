// How long the lists and charts of the console take over the records of a month, on both databases. It is judged only where
// somebody asks for it on a quiet machine: `DRAGOMAN_RECORDS=1000000 node bin/bun.mjs test test/console/list-speed.test.ts`.
// `bench/list-scale.ts` prints the same as a table.
import { describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startManaged } from '../support/management/scene.ts';
import { POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';
import { fillMonth } from './busy-month.ts';
import { LIST_QUESTIONS, RANGES, TABLE_PATHS } from './list-questions.ts';
import { moveToPostgres } from './moved-month.ts';

const RECORDS = Number(process.env['DRAGOMAN_RECORDS'] ?? 0);
/** Longest time of an answer in milliseconds: the shortest of some rounds. */
const MOST_MS = 300;
const ROUNDS = 3;
const MINUTES = 60_000;

async function durationOf(ask: () => Promise<{ readonly status: number }>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    expect((await ask()).status).toBe(200);
    times.push(performance.now() - from);
  }
  return Math.min(...times);
}

describe.skipIf(RECORDS === 0).each(['sqlite', 'postgres'] as const)('on %s', (database) => {
  test.skipIf(database === 'postgres' && POSTGRES_PROGRAMS === null)(
    `every list and chart answers within ${MOST_MS} ms`,
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-month-'));
      await fillMonth(dataDir, RECORDS, Date.now());
      const gateway =
        database === 'postgres'
          ? await startManaged(await moveToPostgres(dataDir))
          : await startManaged({}, { dataDir });
      const nowMs = Date.now();
      const paths = LIST_QUESTIONS.flatMap(({ path }) =>
        Object.values(RANGES).map((ms) => path(new Date(nowMs - ms).toISOString())),
      );
      const slow: string[] = [];
      for (const path of [...paths, ...TABLE_PATHS]) {
        const ms = await durationOf(() => gateway.manage('GET', path));
        if (ms > MOST_MS) slow.push(`${path}: ${ms.toFixed(0)} ms`);
      }
      await gateway.close();
      expect(slow).toEqual([]);
    },
    20 * MINUTES,
  );
});
