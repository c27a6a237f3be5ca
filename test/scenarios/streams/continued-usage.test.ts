// Usage of an answer that one endpoint began and another completed: its client and its record have the same.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const gateway = await startGateway({
  routing: { retries: 0 },
  models: [
    {
      id: 'mended',
      endpoints: ['cut-after-400', 'chat'].map((model) => ({
        provider: 'sim',
        model,
        protocol: 'openai-chat',
        name: model,
        price: { input: 1, output: 4 },
      })),
    },
  ],
});
afterAll(() => gateway.close());

const WORDS = 'write 300 words';
const messages = [{ role: 'user', content: WORDS }];
/** How each client asks, and where the end of its stream says how many tokens went out. */
const CLIENTS: readonly (readonly [path: string, body: object, count: RegExp])[] = [
  [
    '/chat/completions',
    { messages, max_tokens: 900, stream_options: { include_usage: true } },
    /"completion_tokens":(\d+)/g,
  ],
  ['/responses', { input: WORDS }, /"output_tokens":(\d+)/g],
  ['/messages', { messages, max_tokens: 900 }, /"output_tokens":(\d+)/g],
];

test.each(CLIENTS)('%s and the record agree', async (path, body, count) => {
  const wishes = { model: 'mended', stream: true, provider: { stream_safety: 'continue' } };
  const answer = await gateway.post(path, { ...wishes, ...body });
  expect(answer.status).toBe(200);
  const said = [...(await answer.text()).matchAll(count)].at(-1)?.[1];
  const id = answer.headers.get('x-request-id') ?? '';
  const record = (await (await gateway.get(`/generation?id=${id}`)).json()) as Json;
  expect(at(record, 'attempts', 1, 'endpoint')).toBe('sim/chat');
  expect(Number(said)).toBeGreaterThan(500);
  expect(at(record, 'native_tokens', 'completion_tokens')).toBe(Number(said));
});
