// Requests that ask for more tokens than a limit ever has: refused alike in every protocol, unless an operator allows them.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../support/harness.ts';

const LIMIT = { tokens: 50, per: 'minute' };
const LONG = 'word '.repeat(400);
let asked = 0;
const upstream = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    asked += 1;
    if (url.endsWith('/embeddings'))
      return Response.json({
        object: 'list',
        model: 'a',
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    return Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'a',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  },
});

const gateway = await startGateway({
  keys: [
    { name: 'refused', key: 'sk-test-refused', limits: [LIMIT] },
    { name: 'allowed', key: 'sk-test-allowed', limits: [{ ...LIMIT, too_large: 'allow' }] },
    { name: 'expected', key: 'sk-test-expected', limits: [LIMIT] },
  ],
  providers: {
    up: { api_key: 'none', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
  },
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop(true);
});

const messages = [{ role: 'user', content: 'a' }];
const TASKS: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  ['/chat/completions', { messages, max_completion_tokens: 6000 }],
  ['/chat/completions', { messages, max_completion_tokens: 6000, stream: true }],
  ['/chat/completions', { messages: [{ role: 'user', content: LONG }] }],
  ['/responses', { input: 'a', max_output_tokens: 6000 }],
  ['/messages', { messages, max_tokens: 6000 }],
  ['/embeddings', { input: LONG }],
];

interface Reported {
  readonly status: number;
  readonly text: string;
  /** The header `x-should-retry`. */
  readonly retry: string | null;
}

async function ask(path: string, body: object, key: string): Promise<Reported> {
  const answer = await gateway.post(path, { model: 'up/a', ...body }, { authorization: `Bearer ${key}` });
  return { status: answer.status, text: await answer.text(), retry: answer.headers.get('x-should-retry') };
}

test.each(TASKS)(
  '%s refuses a request that exceeds the whole limit, and says what to do',
  async (path, body) => {
    const before = asked;
    const { status, text, retry } = await ask(path, body, 'sk-test-refused');
    expect([status, retry]).toEqual([429, 'false']);
    expect(text).toMatch(
      /This request exceeds the whole limit of 50 tokens per minute \(the limit of key \\"refused\\"\): it needs \d{3,} tokens/,
    );
    expect(text).toContain(
      'Request fewer output tokens, send a shorter prompt, or ask an administrator to raise the limit.',
    );
    expect(asked).toBe(before);
  },
);

test('a limit with oversized requests allowed admits one while nothing of the limit is used', async () => {
  const body = { messages, max_completion_tokens: 6000 };
  expect((await ask('/chat/completions', body, 'sk-test-allowed')).status).toBe(200);
  expect(await ask('/chat/completions', body, 'sk-test-allowed')).toMatchObject({
    status: 429,
    retry: null,
    text: expect.stringContaining('is reached'),
  });
});

test('a request is not refused because of an expected response that exceeds the limit', async () => {
  expect((await ask('/chat/completions', { messages }, 'sk-test-expected')).status).toBe(200);
});
