// PostgreSQL goes away, or falls silent, while requests are answered: nobody waits long, nothing is lost, nothing is counted
// twice, and it is used again when it is back. With a real server that is really stopped.
import { describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { GatewayError } from '../../../src/canonical/index.ts';
import { newGenerationId } from '../../../src/base/runtime/ids.ts';
import { openWith, type PostgresOptions } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import type { StoredResponse } from '../../../src/accounts/ports/index.ts';
import { BEST_OF_THREE } from '../../support/growth.ts';
import { eventually } from '../../support/program.ts';
import { rejection } from '../../support/rejection.ts';
import { POSTGRES_PROGRAMS, type PostgresServer, startPostgres } from '../../support/servers/postgres.ts';
import { attempt, generation, message, storedResponse } from '../../support/storage/storage-records.ts';
import { undoAfterEach } from '../../support/undo.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const ALL = { fromMs: 0, toMs: NOON + 86_400_000, interval: null, groupBy: [], filters: {} } as const;

const ends = undoAfterEach();

interface Scene {
  readonly server: PostgresServer;
  readonly spool: string;
  readonly storage: Awaited<ReturnType<typeof open>>['storage'];
  /** Resolves when the operator is told something that begins so. */
  /** The first report that begins so, once there is one. */
  readonly reported: (beginning: string) => Promise<string>;
}

async function open(options: PostgresOptions) {
  const received: string[] = [];
  const waiting = new Set<() => void>();
  const notice = (sentence: string): void => {
    received.push(sentence);
    for (const look of waiting) look();
  };
  const reported = (beginning: string): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = received.find((sentence) => sentence.startsWith(beginning));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    storage: await openWith(POSTGRES_STORES, { confirmMs: 300, statementMs: 500, notice, ...options }),
    reported,
  };
}

async function scene(): Promise<Scene> {
  const server = await startPostgres();
  ends.push(() => server.stop());
  const spool = mkdtempSync(join(tmpdir(), 'dragoman-spool-'));
  ends.push(() => rmSync(spool, { recursive: true, force: true }));
  return { server, spool, ...(await open({ url: server.url, spool })) };
}

/** Answers requests one after another: each ends when its record is safe. @returns ids of the answers that ended */
async function answer(storage: Scene['storage'], count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = newGenerationId(NOON + n);
    storage.ledger.append(generation(id, { createdAt: NOON + n }), [attempt(`${id}-0`, id)]);
    await storage.ledger.confirmed();
    ids.push(id);
  }
  return ids;
}

/** Expects each of these answers in the ledger once, and in the sums. */
async function expectOnce(storage: Scene['storage'], ids: readonly string[]): Promise<void> {
  const { rows } = await storage.usage.query(ALL);
  expect(rows[0]?.sums.counts.requests).toBe(ids.length);
  const { generations } = await storage.ledger.list({ filters: {}, order: 'asc', limit: 10_000 });
  expect(generations.map((each) => each.generation.id)).toEqual([...ids].toSorted());
}

/** A stored response; null as long as nobody can say. */
async function found(responses: Scene['storage']['responses'], id: string): Promise<StoredResponse | null> {
  return responses.find('key_a', id, 0).catch(() => null);
}

/** Expects the error that a client receives who needs what is stored. */
async function expectAway(storage: Scene['storage']): Promise<void> {
  const error = await rejection(storage.responses.find('project', 'resp_1', 0));
  expect(GatewayError.is(error) && [error.status, error.code, (error.retryAfterMs ?? 0) > 0]).toEqual([
    503,
    'database_unavailable',
    true,
  ]);
}

describe.skipIf(POSTGRES_PROGRAMS === null)('a database', () => {
  test('that is stopped under load and started again has every record once', async () => {
    const { server, storage, reported } = await scene();
    const clients = Promise.all([1, 2, 3, 4].map(() => answer(storage, 60)));
    await answer(storage, 5).then(() => server.kill());
    const ids = (await clients).flat();
    await reported('the database is unreachable');
    ids.push(...(await answer(storage, 50)));
    expect(storage.ledger.backlog()).toMatchObject({ isStuck: true, isFull: false });
    expect(storage.ledger.backlog().bytes).toBeGreaterThan(0);
    await expectAway(storage);
    await server.start();
    await reported('the database is reachable again');
    ids.push(...(await answer(storage, 20)));
    const { rows } = await storage.usage.query(ALL);
    // The first five are nobody's answers here.
    expect(rows[0]?.sums.counts.requests).toBe(ids.length + 5);
    const { generations } = await storage.ledger.list({ filters: {}, order: 'asc', limit: 10_000 });
    const found = generations.map((each) => each.generation.id);
    expect(new Set(found).size).toBe(found.length);
    expect(ids.filter((id) => !found.includes(id))).toEqual([]);
    expect(storage.ledger.backlog()).toEqual({ bytes: 0, isStuck: false, isFull: false });
    await storage.close();
  });

  test('that becomes unreachable during responses gets their stored items, in their conversation and in order', async () => {
    const { server, spool, storage, reported } = await scene();
    const { conversations, responses } = storage;
    const conversation = { id: 'conv_1', projectId: 'key_a', createdAt: 1, expiresAt: null, metadata: {} };
    await conversations.create(conversation, []);
    const turn = (n: number): StoredResponse =>
      storedResponse(`resp_${n}`, { conversationId: 'conv_1', expiresAt: null });
    await responses.put(turn(0), { appendTo: 'conv_1' });
    await server.kill();
    await responses.put(turn(1), { appendTo: 'conv_1' });
    await responses.put(turn(2), { appendTo: 'conv_1' });
    // Not from memory: another process could not say it either.
    expect(await rejection(responses.find('key_a', 'resp_1', 0))).toMatchObject({ status: 503 });
    await server.start();
    const { storage: other } = await open({ url: server.url });
    await eventually('its place is left to others', () =>
      conversations.endTurn('key_a', 'conv_1', 'gen_1').then(
        () => true,
        () => false,
      ),
    );
    const seen = (await other.conversations.all('key_a', 'conv_1', 0)) ?? [];
    expect(seen.map(({ id }) => id)).toEqual([0, 1, 2].flatMap((n) => [`msg_${n}_0`, `msg_${n}_1`]));
    await other.close();
    // As after a retry, or an answer whose commit nobody heard of.
    await eventually('it is there', async () => (await found(responses, 'resp_1')) !== null);
    await responses.put(turn(1), { appendTo: 'conv_1' });
    await responses.put(turn(3), { appendTo: 'conv_1' });
    await server.kill();
    // One whose response is not stored.
    const said = [message('msg_4_0', 'hi'), message('msg_4_1', 'ho')];
    await conversations.appendTurn('key_a', 'conv_1', said);
    await responses.put(storedResponse('resp_5'));
    await storage.close();
    expect(await reported('records are queued for the next start: ')).not.toContain('undefined');
    const left = mkdtempSync(join(tmpdir(), 'dragoman-spool-'));
    ends.push(() => rmSync(left, { recursive: true, force: true }));
    cpSync(spool, left, { recursive: true });
    await server.start();
    const { storage: next } = await open({ url: server.url, spool });
    const itemsOf = async (reader: Scene['storage']): Promise<readonly unknown[]> =>
      ((await reader.conversations.all('key_a', 'conv_1', 0)) ?? []).map(({ id }) => id);
    const all = [0, 1, 2, 3, 4].flatMap((n) => [`msg_${n}_0`, `msg_${n}_1`]);
    expect(await itemsOf(next)).toEqual(all);
    expect(await next.responses.find('key_a', 'resp_5', 0)).not.toBeNull();
    // Deleted while a journal still has it, as behind a process that died as soon as it had brought it in.
    expect(await next.responses.delete('key_a', 'resp_5')).toBe(true);
    expect(await next.conversations.deleteItem('key_a', 'conv_1', 'msg_4_0')).toBe(true);
    const bytes = await next.stateUsage.bytes('key_a');
    await next.close();
    cpSync(left, spool, { recursive: true });
    const { storage: last } = await open({ url: server.url, spool });
    expect(readdirSync(spool)).not.toEqual(readdirSync(left));
    expect(await last.responses.find('key_a', 'resp_5', 0)).toBeNull();
    expect(await itemsOf(last)).toEqual(all.filter((id) => id !== 'msg_4_0'));
    expect(await last.stateUsage.bytes('key_a')).toBe(bytes);
    await last.close();
    // Known for long, and not for ever.
    const client = new Client({ connectionString: server.url });
    ends.push(() => client.end());
    await client.connect();
    const known = async (): Promise<number> =>
      Number((await client.query('select count(*) as rows from deleted_of_turns')).rows[0]?.rows);
    const { storage: later } = await open({ url: server.url });
    await later.responses.purge(Date.now());
    expect(await known()).toBe(2);
    await later.responses.purge(Date.now() + 100 * 86_400_000);
    expect(await known()).toBe(0);
    await later.close();
  });

  test(
    'that stops responding is treated as unreachable by writers and readers',
    async () => {
      const { server, storage, reported } = await scene();
      const ids = [...(await answer(storage, 10))];
      const processes = [...server.backends(), server.pid];
      const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
        for (const pid of processes) process.kill(pid, name);
      };
      signal('SIGSTOP');
      ends.push(() => signal('SIGCONT'));
      const began = performance.now();
      ids.push(...(await answer(storage, 200)));
      // One of them has waited; the bound of all is far below what it would take if each did.
      expect(performance.now() - began).toBeLessThan(5_000);
      await reported('the database is unreachable');
      const asked = performance.now();
      for (let n = 0; n < 50; n += 1) await expectAway(storage);
      expect(performance.now() - asked).toBeLessThan(1_000);
      ends.pop();
      signal('SIGCONT');
      await reported('the database is reachable again');
      await expectOnce(storage, ids);
      await storage.close();
    },
    BEST_OF_THREE,
  );

  test(
    'that returns delays no request while queued records are written, and loses none of them',
    async () => {
      const one = await scene();
      const spool = mkdtempSync(join(tmpdir(), 'dragoman-spool-'));
      ends.push(() => rmSync(spool, { recursive: true, force: true }));
      const two = await open({ url: one.server.url, spool });
      const replicas = [one, two];
      const BACKLOG = 2_500;
      const text = 'word '.repeat(800);
      const put = ({ storage }: (typeof replicas)[number], id: string): Promise<string> =>
        storage.responses.put(storedResponse(id, { input: [message(`msg_${id}`, text)] }));
      await put(one, 'resp_before');
      await one.server.kill();
      for (const [at, replica] of replicas.entries())
        for (let n = 0; n < BACKLOG; n += 1) await put(replica, `resp_${at}_${n}`);
      await one.server.start();
      await Promise.all(replicas.map(({ reported }) => reported('the database is reachable again')));
      let longestMs = 0;
      const ask = async (request: () => Promise<unknown>): Promise<void> => {
        const from = performance.now();
        const error = await request().then(
          () => null,
          (reason: unknown) => reason,
        );
        longestMs = Math.max(longestMs, performance.now() - from);
        if (error !== null)
          expect(GatewayError.is(error) && [error.status, (error.retryAfterMs ?? 0) > 0]).toEqual([
            503,
            true,
          ]);
      };
      const meanwhile: string[] = [];
      for (let n = 0; n < 20; n += 1)
        await Promise.all(
          replicas.flatMap((replica, at) => {
            const id = `resp_after_${at}_${n}`;
            meanwhile.push(id);
            return [
              ask(() => put(replica, id)),
              ask(() => replica.storage.responses.find('key_a', 'resp_before', 0)),
            ];
          }),
        );
      expect(longestMs).toBeLessThan(2_500);
      for (const [at, { storage }] of replicas.entries()) {
        await eventually(
          'all of it arrived',
          async () => (await found(storage.responses, `resp_${at}_${BACKLOG - 1}`)) !== null,
        );
        for (const id of [
          `resp_${at}_0`,
          ...meanwhile.filter((each) => each.startsWith(`resp_after_${at}_`)),
        ])
          expect([id, (await found(storage.responses, id)) === null]).toEqual([id, false]);
      }
      await one.storage.close();
      // Counted once each, whoever wrote them.
      const each = (await two.storage.stateUsage.bytes('key_a')) / (2 * BACKLOG + meanwhile.length + 1);
      expect(each).toBeGreaterThan(4_000);
      expect(each).toBeLessThan(5_500);
      await two.storage.close();
    },
    BEST_OF_THREE,
  );

  test('that is unreachable when a process ends gets its records from the next process', async () => {
    const { server, spool, storage } = await scene();
    const ids = [...(await answer(storage, 10))];
    await server.kill();
    ids.push(...(await answer(storage, 30)));
    await storage.close();
    expect(readdirSync(spool).some((name) => name.endsWith('.journal'))).toBe(true);
    // Nothing of it can be answered from memory: a start needs it.
    expect(await rejection(open({ url: server.url, spool }))).toMatchObject({ kind: 'internal' });
    await server.start();
    const { storage: next } = await open({ url: server.url, spool });
    await expectOnce(next, ids);
    expect(readdirSync(spool)).toEqual([]);
    await next.close();
  });
});
