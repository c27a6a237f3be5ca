// A background answer whose process is killed, and whose data directory loses the marks of sent requests, as on a machine that never
// comes back. Its request counts as sent after a while, and once.
import { afterAll, expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startManaged } from '../support/management/scene.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { eventually } from '../support/program.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';
import { headers, KEY, killProgram, killScene } from './kill-scene.ts';

const SECOND = 1_000;
/** Longer than a lease. */
const LEASE_MS = 20 * SECOND;
/** Time that a process with the marks has, without and with a bit more. */
const ALMOST_MS = 590 * SECOND;
const REST_MS = 20 * SECOND;
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

test('a request whose mark is lost is charged once, after the time in which its replica may return', async () => {
  const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
  const price = { input: 1, output: 4 };
  const config = {
    keys: [{ name: 'test', key: KEY }],
    providers: { up: { api_key: 'sk-test', protocols } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price }] }],
  };
  const killed = await scene.serve(config);
  const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Is it?' }] });
  const began = await fetch(`${killed.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, prefer: 'respond-async' },
    body,
  });
  expect(began.status).toBe(202);
  await eventually('the upstream has the request', () => asked === 1);
  await killProgram(killed);
  const dataDir = join(scene.folder, 'data');
  const marks = readdirSync(join(dataDir, 'running')).filter((name) => name.endsWith('.sent'));
  expect(marks).toHaveLength(1);
  for (const name of marks) rmSync(join(dataDir, 'running', name));

  isSilent = false;
  const clock = new ManualClock(Date.now() + LEASE_MS);
  const gateway = await startManaged(config, { clock, dataDir });
  const records = async (): Promise<readonly Json[]> =>
    list((await gateway.manage('GET', '/generations')).body as Json, 'data');
  await eventually('the answer is made', async () => {
    clock.advance(SECOND);
    const { body: jobs } = await gateway.manage('GET', '/jobs');
    return at(jobs as Json, 'data', 0, 'state') === 'completed';
  });
  expect(await records()).toHaveLength(1);
  clock.advance(ALMOST_MS);
  expect(await records()).toHaveLength(1);
  await eventually('the first request is in the ledger', async () => {
    clock.advance(REST_MS);
    return (await records()).length === 2;
  });
  expect(asked).toBe(2);
  for (let more = 0; more < 5; more += 1) clock.advance(ALMOST_MS);
  expect(await records()).toHaveLength(2);
  await gateway.stop();
});
