// Answers of `POST /route/explain`: the plan that the request would get under the wishes of all three levels, and
// no trace of having been asked.
import { afterAll, expect, test } from 'bun:test';
import { TEST_KEY } from '../../support/harness.ts';
import { freshFolder, runProgram } from '../../support/program.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';

const CHEAP_KEY = 'sk-test-cheap';
const CHAT = { model: 'all/chat', messages: [{ role: 'user', content: 'Hello!' }] };

const scene = await startScene(['one', 'two', 'three'], {
  config: {
    keys: [
      { name: 'plain', key: TEST_KEY },
      { name: 'narrow', key: CHEAP_KEY, models: ['all/*'], routing: { ignore: ['one'], hedge: true } },
    ],
    routing: { default: { order: ['three'], stream_safety: 'buffer' } },
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

async function explain(
  body: object,
  key: string = TEST_KEY,
  query = '',
): Promise<{ status: number; id: string; json: unknown }> {
  const response = await scene.gateway.post(`/route/explain${query}`, body, {
    authorization: `Bearer ${key}`,
  });
  return {
    status: response.status,
    id: response.headers.get('x-request-id') ?? '',
    json: await response.json(),
  };
}

/** Slugs in the order of trying. */
function order(json: unknown): unknown[] {
  return list(json, 'candidates').map((row) => at(row, 'endpoint'));
}

test('the default, the key and the request are put together', async () => {
  const plain = await explain(CHAT);
  expect(plain.status).toBe(200);
  expect(order(plain.json)).toEqual(['three', 'one', 'two']);
  expect(at(plain.json, 'strategy')).toEqual({
    type: 'priority',
    primary_factor: null,
    fallback: true,
    stream_safety: 'buffer',
    hedge: false,
  });

  const narrow = await explain(CHAT, CHEAP_KEY);
  expect(order(narrow.json)).toEqual(['three', 'two']);
  expect(at(narrow.json, 'strategy')).toMatchObject({ stream_safety: 'buffer', hedge: true });
  expect(list(narrow.json, 'excluded')).toMatchObject([{ model: 'all/chat', endpoint: 'one' }]);

  const provider = { order: ['two'], fallback: 'false', stream_safety: 'error' };
  const asked = await explain({ ...CHAT, provider }, CHEAP_KEY);
  expect(order(asked.json)).toEqual(['two']);
  expect(at(asked.json, 'strategy')).toMatchObject({ fallback: false, stream_safety: 'error', hedge: true });
});

test('each candidate includes all that is known about it', async () => {
  const { json } = await explain(CHAT);
  expect(at(json, 'requested_model')).toBe('all/chat');
  expect(at(json, 'models')).toBeNull();
  expect(at(json, 'candidates', 0)).toEqual({
    position: 1,
    endpoint: 'three',
    provider: 'three',
    model: 'all/chat',
    score: null,
    reason: expect.stringMatching(/./),
    price: { input: 1, output: 4 },
    context_length: null,
    context_learned: false,
    first_token_ms: null,
    answer_ms: null,
    tokens_per_second: null,
    success_rate: null,
    in_flight: 0,
    state: 'closed',
    cache_hit_rate: null,
    holds_cache: false,
  });
});

test('the order is the one in which the request is then tried', async () => {
  const body = { ...CHAT, provider: { order: ['two'] } };
  const [first] = order((await explain(body)).json);
  scene.upstream('two').script(whole(chatBody('Hi')));
  const response = await scene.gateway.post('/chat/completions', body);
  expect(response.headers.get('x-dragoman-provider')).toBe(String(first));
});

test('an explanation sends and records nothing, and takes no turn', async () => {
  const arrived = (): number[] => ['one', 'two', 'three'].map((name) => scene.upstream(name).requests.length);
  const before = arrived();
  const body = { ...CHAT, provider: { routing: { type: 'round_robin' } } };
  const answers = [await explain(body), await explain(body), await explain(body)];
  expect(new Set(answers.map(({ json }) => String(order(json)))).size).toBe(1);
  expect(arrived()).toEqual(before);
  for (const { id } of answers) expect((await scene.gateway.get(`/generation?id=${id}`)).status).toBe(404);
});

test('a Responses request is detected by its input, and refused in its own form', async () => {
  const { json } = await explain({ model: 'all/chat', input: 'Hello!' });
  expect(order(json)).toEqual(['three', 'one', 'two']);
  const wrong = { model: 'all/chat', input: 'Hello!', truncation: 'some' };
  expect(at((await explain(wrong)).json, 'error', 'param')).toBe('truncation');
  // Read as what it says it is not.
  const named = await explain(wrong, TEST_KEY, '?protocol=anthropic-messages');
  expect(at(named.json, 'error', 'message')).toContain('messages: is required');
  // Chat Completions reads bodies of this form too.
  const mixed = await explain(wrong, TEST_KEY, '?protocol=openai-chat');
  expect(at(mixed.json, 'error', 'param')).toBe('truncation');
});

test('the command line prints it', async () => {
  const { folder, remove } = freshFolder();
  const { origin, key } = scene.gateway;
  const run = await runProgram(['explain', 'all/chat', 'Hello!', '--url', origin, '--key', key], {
    folder,
  });
  remove();
  expect(run).toMatchObject({ code: 0, err: '' });
  expect(run.out).toMatch(
    /^all\/chat: priority, fallback on, .*\n\n# .*\n1 {2}three .* ok .*\n2 {2}one .*\n3 {2}two .*\n$/,
  );
});

test.each([
  [{ ...CHAT, model: 'all/caht' }, TEST_KEY],
  [{ ...CHAT, model: 'one/chat' }, CHEAP_KEY],
  [{ ...CHAT, provider: { only: ['four'] } }, TEST_KEY],
])('a request that would be refused is refused: %j', async (body, key) => {
  const explained = await explain(body, key);
  const run = await scene.gateway.post('/chat/completions', body, { authorization: `Bearer ${key}` });
  expect(explained.status).toBeGreaterThanOrEqual(400);
  expect([explained.status, explained.json]).toEqual([run.status, await run.json()]);
});
