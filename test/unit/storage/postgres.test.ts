// PostgreSQL as such: how it is opened, who makes the tables, what its failures mean to others, and that it comes back.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { GatewayError } from '../../../src/canonical/index.ts';
import { Breaker } from '../../../src/storage/postgres/breaker.ts';
import { databaseAway } from '../../../src/storage/database-away.ts';
import { openWith, type PostgresOptions } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { rejection } from '../../support/rejection.ts';
import {
  freshPostgres,
  POSTGRES_PROGRAMS,
  type PostgresServer,
  startPostgres,
} from '../../support/servers/postgres.ts';

const open = (options: PostgresOptions) => openWith(POSTGRES_STORES, options);

describe.skipIf(POSTGRES_PROGRAMS === null)('a PostgreSQL database', () => {
  test('is created once by processes that start together', async () => {
    const url = await freshPostgres();
    const all = await Promise.all([1, 2, 3].map(() => open({ url, now: () => 5 })));
    expect(await Promise.all(all.map((storage) => storage.alerts.claim('a', 1_000, Infinity)))).toContain(
      true,
    );
    const reported = await Promise.all(all.map((storage) => storage.alerts.claim('b', 1_000, Infinity)));
    expect(reported.filter(Boolean).length).toBe(1);
    await Promise.all(all.map((storage) => storage.close()));
  });

  test('that is unreachable is an error at the start, without its password', async () => {
    for (const url of [
      'postgres://user:pa55word@127.0.0.1:1/none',
      (await freshPostgres()).replace(/:[^:@]*@/, ':pa55word@'),
    ]) {
      const error = (await rejection(open({ url }))) as Error;
      expect(error).toMatchObject({ kind: 'internal' });
      expect(error.message).toContain('database_url cannot be used');
      expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain('pa55word');
    }
    const wrong = (await rejection(open({ url: 'mysql://user:pa55word@host/x' }))) as Error;
    expect(wrong).toMatchObject({ kind: 'invalid_request', param: 'database_url' });
    expect(wrong.message).not.toContain('pa55word');
  });
});

describe.skipIf(POSTGRES_PROGRAMS === null)('a PostgreSQL server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test('that becomes unreachable is a 503 with a retry time, and is used again when it returns', async () => {
    const reported = { away: Promise.withResolvers<void>(), back: Promise.withResolvers<void>() };
    const notice = (sentence: string): void =>
      reported[sentence.includes('again') ? 'back' : 'away'].resolve();
    const storage = await open({ url: server.url, notice });
    await storage.alerts.claim('a', 1, 0);
    await server.kill();
    for (let round = 0; round < 2; round += 1) {
      const error = await rejection(storage.alerts.claim('a', 2, 0));
      expect(GatewayError.is(error) && [error.status, error.code, error.retryAfterMs]).toEqual([
        503,
        'database_unavailable',
        5_000,
      ]);
    }
    await reported.away.promise;
    await server.start();
    await reported.back.promise;
    expect(await storage.alerts.claim('a', 3, 0)).toBe(true);
    await storage.close();
  });

  test('that does not respond is a 503 in time', async () => {
    const storage = await open({ url: server.url, statementMs: 1_000 });
    await storage.alerts.claim('a', 4, 0);
    const silent = server.backends();
    for (const pid of silent) process.kill(pid, 'SIGSTOP');
    expect(await rejection(storage.alerts.claim('a', 5, 0))).toMatchObject({
      code: 'database_unavailable',
    });
    // The connection that did not answer is not waited for again, nor for its end.
    expect(await storage.alerts.claim('a', 6, 0)).toBe(true);
    await storage.close();
    for (const pid of silent) process.kill(pid, 'SIGCONT');
  });
});

test('an unreachable database is retried with growing, random and bounded pauses', async () => {
  const away = {
    connect: () => Promise.reject(databaseAway('gone')),
    end: () => Promise.resolve(),
    options: {},
  };
  const chances = [0, 0.5, 0, 0.75, 0, 0];
  const pauses: number[] = [];
  const asked = Promise.withResolvers<void>();
  const breaker = new Breaker({
    pool: () => away,
    probe: () => away,
    notice: () => {},
    random: () => chances[pauses.length] ?? 0,
    later(task, ms) {
      pauses.push(ms);
      if (pauses.length === chances.length) asked.resolve();
      else task();
      return () => {};
    },
  });
  await rejection(breaker.connect());
  await asked.promise;
  // No server that is back waits longer than a second for it to be seen.
  expect(pauses).toEqual([500, 750, 1_000, 625, 1_000, 1_000]);
  await breaker.end();
});
