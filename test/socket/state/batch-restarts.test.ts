// Lines of a batch and answers in the background whose process ends again and again. A process that dies may have died of one of them:
// that one fails in the end, and the others must not. A process that stops as it should has died of nothing.
import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { quickClock } from '../../support/quick-clock.ts';
import { begin, line, resultsOf } from './vendor-gateway.ts';

const DEADLY = 'deadly';
/** Ends of its process after which a line or an answer fails. */
const MOST_DEATHS = 10;
/** Longer than a lease, in milliseconds: a process whose clock is so far ahead takes what another one runs. */
const LEASE_IS_OVER_MS = 20_000;
/** How long an answer takes, in milliseconds: requests that were sent together have all arrived by then. */
const ANSWER_MS = 100;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

interface Scene {
  /** How often the deadly question was asked. */
  readonly deaths: () => number;
  /** Client of the process that runs. */
  readonly client: () => OpenAI;
  /** Ends the process that runs, and begins the next one. @param how `dies`: nothing is heard of it any more, and its leases run out */
  end(how: 'dies' | 'stops'): Promise<void>;
}

/** @param isAnswered whether the deadly question is answered when it is asked for the n-th time */
async function startScene(isAnswered: (asked: number) => boolean): Promise<Scene> {
  let asked = 0;
  /** The deadly question was asked: its process ends before anybody gets an answer. */
  let isDying = false;
  const upstream = Bun.serve({
    port: 0,
    async fetch(request) {
      const { messages, stream } = (await request.json()) as {
        messages: { content: string }[];
        stream?: boolean;
      };
      const isDeadly = JSON.stringify(messages).includes(DEADLY) && !isAnswered(++asked);
      isDying ||= isDeadly;
      await new Promise<void>((resolve) => setTimeout(resolve, ANSWER_MS));
      if (isDying || isDeadly) return new Promise<Response>(() => {});
      const head = { id: 'c', created: 1, model: 'm' };
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
      const said = { role: 'assistant', content: 'Hi' };
      if (stream !== true) {
        const choices = [{ index: 0, message: said, finish_reason: 'stop' }];
        return Response.json({ ...head, object: 'chat.completion', choices, usage });
      }
      const choices = [{ index: 0, delta: said, finish_reason: 'stop' }];
      const chunk = JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage });
      return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  open.push({ close: () => upstream.stop(true) });
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-restarts-'));
  let aheadMs = 0;
  const start = (): Promise<TestGateway> => {
    const ms = aheadMs;
    return startGateway(
      {
        keys: [{ name: 'test', key: TEST_KEY }],
        providers: {
          up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
        },
        batches: { max_delay_ms: 0 },
        server: { drain_ms: 50 },
      },
      { dataDir, clock: quickClock(() => ms) },
    );
  };
  let gateway = await start();
  open.push({ close: () => gateway.close() });
  return {
    deaths: () => asked,
    client: () => new OpenAI({ apiKey: TEST_KEY, baseURL: gateway.baseURL, maxRetries: 0 }),
    async end(how) {
      const before = gateway;
      if (how === 'stops') await before.stop();
      else aheadMs += LEASE_IS_OVER_MS;
      isDying = false;
      gateway = await start();
      if (how === 'stops') return;
      const seen = asked;
      // The lease is the next one's before this one could give it back.
      await eventually('it is taken over', async () => asked > seen || (await hasEnded(gateway)));
      await before.stop();
    },
  };
}

async function hasEnded(gateway: TestGateway): Promise<boolean> {
  const authorization = `Bearer ${TEST_KEY}`;
  const answer = await fetch(`${gateway.baseURL}/batches`, { headers: { authorization } });
  const { data } = (await answer.json()) as { data: { status: string }[] };
  return data.some(({ status }) => status === 'completed');
}

const LINES = ['a', DEADLY, 'b', 'c'];

const batchOf = (client: OpenAI): Promise<string> =>
  begin(
    client,
    LINES.map((id) => line(id, 'up/m')),
  );

test('a line whose process dies ten times fails, and the other lines are answered', async () => {
  const scene = await startScene(() => false);
  const id = await batchOf(scene.client());
  await eventually('it is asked', () => scene.deaths() === 1);
  for (let death = 1; death <= MOST_DEATHS; death += 1) await scene.end('dies');
  await eventually('it ends', async () => (await scene.client().batches.retrieve(id)).status === 'completed');
  const client = scene.client();
  const batch = await client.batches.retrieve(id);
  expect(batch.request_counts).toEqual({ total: 4, completed: 3, failed: 1 });
  const answered = await resultsOf(client, batch.output_file_id);
  expect(answered.map(({ custom_id }) => custom_id)).toEqual(['a', 'b', 'c']);
  const [failed] = await resultsOf(client, batch.error_file_id);
  expect(failed).toMatchObject({ custom_id: DEADLY, error: { code: 'interrupted' } });
  expect(scene.deaths()).toBe(MOST_DEATHS);
});

test('a line continues after any number of regular stops of its process', async () => {
  const scene = await startScene((asked) => asked > MOST_DEATHS + 1);
  const id = await batchOf(scene.client());
  for (let stop = 1; stop <= MOST_DEATHS + 1; stop += 1) {
    await eventually('it is asked', () => scene.deaths() === stop);
    await scene.end('stops');
  }
  await eventually('it ends', async () => (await scene.client().batches.retrieve(id)).status === 'completed');
  expect((await scene.client().batches.retrieve(id)).request_counts).toEqual({
    total: 4,
    completed: 4,
    failed: 0,
  });
});

test('a background response is completed after any number of regular stops of its process', async () => {
  const scene = await startScene((asked) => asked > MOST_DEATHS + 1);
  const { id } = await scene.client().responses.create({ model: 'up/m', input: DEADLY, background: true });
  for (let stop = 1; stop <= MOST_DEATHS + 1; stop += 1) {
    await eventually('it is asked', () => scene.deaths() === stop);
    await scene.end('stops');
  }
  const answer = () => scene.client().responses.retrieve(id);
  await eventually('it ends', async () => !['queued', 'in_progress'].includes((await answer()).status ?? ''));
  expect(await answer()).toMatchObject({ status: 'completed', output_text: 'Hi' });
});
