// Lines of a batch whose process ends again and again: one of them is the cause, and the others must not end with it.
import { expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { begin, line, resultsOf } from './vendor-gateway.ts';

const DEADLY = 'deadly';

test('a line with which its process ends ten times fails, and those beside it are answered', async () => {
  let deaths = 0;
  /** The deadly line runs: its process ends before anybody gets an answer. */
  let isDying = false;
  const upstream = Bun.serve({
    port: 0,
    async fetch(request) {
      const { messages } = (await request.json()) as { messages: { content: string }[] };
      const { content = '' } = messages[0] ?? {};
      if (content.includes(DEADLY)) {
        deaths += 1;
        isDying = true;
      }
      // Lines beside it arrive in any order.
      await new Promise<void>((resolve) => setTimeout(resolve, 100));
      if (isDying) return new Promise<Response>(() => {});
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-restarts-'));
  const start = () =>
    startGateway(
      {
        keys: [{ name: 'test', key: TEST_KEY }],
        providers: {
          up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
        },
        batches: { max_delay_ms: 0 },
        server: { drain_ms: 50 },
      },
      { dataDir },
    );
  let gateway = await start();
  const clientOf = (): OpenAI => new OpenAI({ apiKey: TEST_KEY, baseURL: gateway.baseURL, maxRetries: 0 });
  const lines = ['a', DEADLY, 'b', 'c'].map((id) => line(id, 'up/m'));
  const id = await begin(clientOf(), lines);
  const hasEnded = async (): Promise<boolean> =>
    (await clientOf().batches.retrieve(id)).status === 'completed';
  for (let seen = 0; ; seen = deaths) {
    await eventually('it goes on', async () => deaths > seen || (await hasEnded()), 30_000);
    if (deaths === seen) break;
    await gateway.stop();
    isDying = false;
    gateway = await start();
  }
  const client = clientOf();
  const batch = await client.batches.retrieve(id);
  expect(batch.request_counts).toEqual({ total: 4, completed: 3, failed: 1 });
  const answered = await resultsOf(client, batch.output_file_id);
  expect(answered.map(({ custom_id }) => custom_id)).toEqual(['a', 'b', 'c']);
  const [failed] = await resultsOf(client, batch.error_file_id);
  expect(failed).toMatchObject({ custom_id: DEADLY, error: { code: 'interrupted' } });
  expect(deaths).toBe(10);
  await gateway.close();
  await upstream.stop(true);
}, 120_000);
