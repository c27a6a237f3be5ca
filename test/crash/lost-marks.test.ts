// A background answer whose process is killed, and whose data directory loses the marks of sent requests, as on a machine that never
// comes back. Its request counts as sent, once: after a while where another replica may have the marks, else at once.
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startManaged, type ManagedGateway } from '../support/management/scene.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { eventually } from '../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';
import { headers, KEY, killProgram, killScene } from './kill-scene.ts';

const SECOND = 1_000;
/** Longer than a lease. */
const LEASE_MS = 20 * SECOND;
/** Half of the time that a process with the marks has. */
const HALF_MS = 300 * SECOND;
const LOOK_MS = 20 * SECOND;
const scene = killScene();
let asked = 0;
let isSilent = true;

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch() {
    asked += 1;
    if (isSilent) return new Promise<Response>(() => {});
    const message = { role: 'assistant', content: 'Yes.' };
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  },
});

afterAll(() => upstream.stop(true));

beforeEach(() => {
  asked = 0;
  isSilent = true;
});

/** Kills a gateway while a background answer of it is made, removes its marks, and starts another. */
async function lost(
  data: string,
  database: object,
): Promise<{ gateway: ManagedGateway; clock: ManualClock }> {
  const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
  const price = { input: 1, output: 4 };
  const config = {
    ...database,
    keys: [{ name: 'test', key: KEY }],
    providers: { up: { api_key: 'sk-test', protocols } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price }] }],
  };
  const killed = await scene.serve(config, data);
  const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Is it?' }] });
  const began = await fetch(`${killed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, prefer: 'respond-async' },
    body,
  });
  expect(began.status).toBe(202);
  await eventually('the upstream has the request', () => asked === 1);
  await killProgram(killed);
  const dataDir = join(scene.folder, data);
  const marks = readdirSync(join(dataDir, 'running')).filter((name) => name.endsWith('.sent'));
  expect(marks).toHaveLength(1);
  for (const name of marks) rmSync(join(dataDir, 'running', name));
  isSilent = false;
  const clock = new ManualClock(Date.now() + LEASE_MS);
  return { gateway: await startManaged(config, { clock, dataDir }), clock };
}

async function answerMade(gateway: ManagedGateway, clock: ManualClock): Promise<void> {
  await eventually('the answer is made', async () => {
    // Only until the second try begins: on a busy machine its lease would not be renewed in time.
    if (asked < 2) clock.advance(SECOND);
    const { body: jobs } = await gateway.manage('GET', '/jobs');
    return at(jobs as Json, 'data', 0, 'state') === 'completed';
  });
}

const recordsOf = async (gateway: ManagedGateway): Promise<readonly Json[]> =>
  list((await gateway.manage('GET', '/generations')).body as Json, 'data');

test('a request whose mark is lost is charged immediately and once, if no other replica can have the mark', async () => {
  const { gateway, clock } = await lost('sqlite', {});
  await answerMade(gateway, clock);
  expect(await recordsOf(gateway)).toHaveLength(2);
  expect(asked).toBe(2);
  for (let more = 0; more < 5; more += 1) clock.advance(2 * HALF_MS);
  expect(await recordsOf(gateway)).toHaveLength(2);
  await gateway.stop();
});

test.skipIf(POSTGRES_PROGRAMS === null)(
  'a request whose mark is lost is charged once, after the time in which its replica may return',
  async () => {
    const url = await freshPostgres();
    const { gateway, clock } = await lost('postgres', { database_url: url, secret: 'ab'.repeat(32) });
    const client = new Client({ connectionString: url });
    await client.connect();
    /** Lets time pass by the clock of the database, for leases and tries. */
    const age = async (ms: number): Promise<void> => {
      await client.query(`update jobs set run_after = run_after - ${ms} where state = 'running'`);
      await client.query(`update interrupted_tries set at = at - ${ms}`);
    };
    await age(LEASE_MS);
    await answerMade(gateway, clock);
    expect(await recordsOf(gateway)).toHaveLength(1);
    await age(HALF_MS);
    clock.advance(LOOK_MS);
    expect(await recordsOf(gateway)).toHaveLength(1);
    await age(HALF_MS);
    await eventually('the first request is in the ledger', async () => {
      clock.advance(LOOK_MS);
      return (await recordsOf(gateway)).length === 2;
    });
    expect(asked).toBe(2);
    for (let more = 0; more < 5; more += 1) clock.advance(2 * HALF_MS);
    expect(await recordsOf(gateway)).toHaveLength(2);
    await client.end();
    await gateway.stop();
  },
);
