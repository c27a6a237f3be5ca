// How often a gateway asks PostgreSQL: what is stored of an answer goes there once, what a request continues comes back with two
// questions, and a request that needs nothing stored asks nothing.
import { describe, expect, test } from 'bun:test';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { startGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { countStatements, type StatementCounter } from '../../support/servers/statement-counter.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { storedResponse } from '../../support/storage/storage-records.ts';
import { doctorServer } from '../../support/doctor-server.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { undoAfterEach } from '../../support/undo.ts';

const ends = undoAfterEach();

async function counted(): Promise<StatementCounter> {
  const counter = await countStatements(await freshPostgres());
  ends.push(() => counter.stop());
  return counter;
}

/** True for statements of every second or two, whatever happens: whether keys, projects or findings have changed. */
function isLook(statement: string): boolean {
  return /^select max\(changed\) as mark from |^select "value" from "settings"/.test(statement);
}

describe.skipIf(POSTGRES_PROGRAMS === null)('statements', () => {
  test('a stored response needs one statement, also with its items in a conversation; a continued one needs one or two', async () => {
    const counter = await counted();
    const storage = await openWith(POSTGRES_STORES, { url: counter.url });
    ends.push(() => storage.close());
    const { conversations, responses } = storage;
    const asked = async (work: () => Promise<unknown>): Promise<number> => {
      counter.clear();
      await work();
      return counter.statements.length;
    };
    const [first, second] = ['resp_1', 'resp_2'].map((id) => storedResponse(id, { expiresAt: null }));
    if (!first || !second) throw new Error('there are two');
    expect(await asked(() => responses.put(first))).toBe(1);
    // Once more: nothing is there twice.
    expect(await asked(() => responses.put(first))).toBe(1);
    const bytes = await storage.stateUsage.bytes('key_a');
    expect(bytes).toBeGreaterThan(0);
    const conversation = { id: 'conv_1', projectId: 'key_a', createdAt: 1, expiresAt: null, metadata: {} };
    await conversations.create(conversation, []);
    expect(await asked(() => responses.put(second, { appendTo: 'conv_1' }))).toBe(1);
    expect(await asked(() => responses.chain('key_a', 'resp_1', 0))).toBe(1);
    const continued = await asked(async () => {
      expect(await conversations.find('key_a', 'conv_1', 0)).not.toBeNull();
      expect((await conversations.all('key_a', 'conv_1', 0))?.length).toBe(2);
    });
    expect(continued).toBe(2);
  });

  test('a response that displaces others, or exceeds the quota, is stored step by step with correct sums', async () => {
    const counter = await counted();
    let mostBytes = 1_000_000;
    const storage = await openWith(POSTGRES_STORES, { url: counter.url, maxBytesPerKey: () => mostBytes });
    ends.push(() => storage.close());
    const { responses, stateUsage } = storage;
    await responses.put(storedResponse('resp_1', { expiresAt: null }));
    mostBytes = await stateUsage.bytes('key_a');
    await responses.put(storedResponse('resp_2', { expiresAt: null }));
    expect(await responses.find('key_a', 'resp_1', 0)).toBeNull();
    expect(await stateUsage.bytes('key_a')).toBe(mostBytes);
    mostBytes = 10;
    const refused = await responses.put(storedResponse('resp_3', { expiresAt: null })).catch(String);
    expect(refused).toContain('GatewayError');
    expect(await responses.find('key_a', 'resp_3', 0)).toBeNull();
  });

  test('responses of one project that are stored at once need two statements, and one that cannot be stored affects no other', async () => {
    const counter = await counted();
    let mostBytes = 1_000_000;
    const storage = await openWith(POSTGRES_STORES, { url: counter.url, maxBytesPerKey: () => mostBytes });
    ends.push(() => storage.close());
    const { responses, stateUsage } = storage;
    const put = (ids: readonly string[], wrong?: string): Promise<readonly string[]> =>
      Promise.all(
        ids.map((id) =>
          responses
            .put(storedResponse(id, { expiresAt: null, ...(id === wrong && { createdAt: 0.5 }) }))
            .then(() => 'stored', String),
        ),
      );
    const ids = Array.from({ length: 20 }, (_, at) => `resp_a${at + 10}`);
    counter.clear();
    // One of them comes twice.
    expect(new Set(await put([...ids, 'resp_a12']))).toEqual(new Set(['stored']));
    expect(counter.statements).toHaveLength(2);
    const bytes = await stateUsage.bytes('key_a');
    for (const id of ids) expect((await responses.find('key_a', id, 0))?.response['id']).toBe(id);
    const more = ['resp_b10', 'resp_b11', 'resp_b12', 'resp_b13'];
    const [first, second, wrong, last] = await put(more, 'resp_b12');
    expect([first, second, last]).toEqual(['stored', 'stored', 'stored']);
    expect(wrong).not.toBe('stored');
    expect(await responses.find('key_a', 'resp_b12', 0)).toBeNull();
    expect(await stateUsage.bytes('key_a')).toBe(bytes + (3 * bytes) / ids.length);
    // Older responses give way one after the other where there is no room for all.
    mostBytes = await stateUsage.bytes('key_a');
    await put(['resp_c10', 'resp_c11', 'resp_c12']);
    expect(await stateUsage.bytes('key_a')).toBe(mostBytes);
    for (const id of ['resp_c10', 'resp_c11', 'resp_c12'])
      expect(await responses.find('key_a', id, 0)).not.toBeNull();
  });

  test('a plain request needs no statement before its response, and then the batch of its record', async () => {
    const counter = await counted();
    const upstream = await startUpstream();
    ends.push(() => upstream.stop());
    // A clock that stands still: nothing is purged meanwhile.
    const clock = new ManualClock(Date.now());
    const config = {
      database_url: counter.url,
      secret: 'ab'.repeat(32),
      providers: {
        sim: false,
        lab: { api_key: 'sk-test', protocols: { 'openai-chat': { base_url: `${upstream.origin}/v1` } } },
      },
      models: [{ id: 'lab/m', endpoints: [{ provider: 'lab' }] }],
    };
    const gateway = await startGateway(config, { clock });
    ends.push(() => gateway.close());
    // At its start a process notes that it is there, for others on the same database.
    await eventually('the process has said that it is there, and listens', () =>
      ['select "name" as name, until_at', 'listen '].every((begin) =>
        counter.statements.some((statement) => statement.startsWith(begin)),
      ),
    );
    const answer = doctorServer();
    let before: readonly string[] = [];
    upstream.always((exchange) => {
      before = counter.statements.filter((statement) => !isLook(statement));
      return typeof answer === 'function' ? answer(exchange) : undefined;
    });
    const body = { model: 'lab/m', messages: [{ role: 'user', content: 'hi' }] };
    // The first of a day makes its partition.
    for (const stream of [false, false, true]) {
      counter.clear();
      const reply = await gateway.post('/chat/completions', { ...body, stream });
      expect(reply.status).toBe(200);
      expect(before).toEqual([]);
      await reply.text();
      const asked = (): readonly string[] => counter.statements.filter((statement) => !isLook(statement));
      await eventually('the batch is there', () => asked().at(-1) === 'commit');
      const after = asked().join('\n');
      expect(after).toMatch(/^begin[^]*insert into "records" [^]*insert into "usage" [^]*commit$/);
      expect(after).not.toMatch(/\b(keys|projects|responses|conversations|vault|audit|files)\b/);
    }
  });
});
