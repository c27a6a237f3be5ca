// Errors of every protocol as its vendor has them: status, type, code and `param`, in one table. Sources: recorded
// answers of the vendors, the error classes of their SDKs, and their pages on errors (2026-11).
import { afterAll, expect, test } from 'bun:test';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const upstream = await startUpstream();
upstream.always(whole({}));
const gateway = await startGateway({
  server: { body_limit_mb: 1 },
  routing: { retries: 0 },
  keys: [
    { name: 'test', key: TEST_KEY },
    { name: 'narrow', key: 'sk-test-narrow', models: ['sim/echo'] },
    { name: 'spent', key: 'sk-test-spent', budgets: [{ usd: 0.000000001, per: 'day' }] },
    { name: 'slow', key: 'sk-test-slow', limits: [{ requests: 1, per: 'day' }] },
  ],
  providers: {
    owner: {
      api_key: 'sk-test',
      protocols: { 'openai-responses': { base_url: `${upstream.origin}/v1`, faithful: true } },
    },
  },
});
// The one request that the slow key has.
await (await post('chat', 'sim/echo', {}, 'sk-test-slow')).text();
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

type Speech = 'chat' | 'responses' | 'messages' | 'gemini';
const SPEECHES: readonly Speech[] = ['chat', 'responses', 'messages', 'gemini'];

function post(speech: Speech, model: string, extra: object = {}, key = TEST_KEY): Promise<Response> {
  const hello = [{ role: 'user', content: 'Hello' }];
  const [path, body] = {
    chat: ['/v1/chat/completions', { model, messages: hello }],
    responses: ['/v1/responses', { model, input: 'Hello' }],
    messages: ['/v1/messages', { model, max_tokens: 100, messages: hello }],
    gemini: [
      `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ],
  }[speech] as [string, object];
  return fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...extra }),
  });
}

/** Members that clients match on, and the place that is named. */
type Reported = readonly (string | number | null)[];

/** OpenAI: status, `type`, `code`, `param`. Anthropic: status, `type`, `error_code`. Google: status, `status`, `reason`. */
async function reportedBy(response: Response): Promise<Reported> {
  const body = (await response.json()) as Json;
  const error = at(body, 'error') as Record<string, Json>;
  if (at(body, 'type') === 'error')
    return [response.status, error['type'], at(error, 'details', 'error_code') ?? null] as Reported;
  if (typeof error['status'] === 'string') {
    expect(error['code']).toBe(response.status);
    return [response.status, error['status']];
  }
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  return [response.status, error['type'], error['code'], error['param']] as Reported;
}

const OPENAI = 'invalid_request_error';

/** One failure in the words of all protocols: OpenAI's two have the same. */
interface Row {
  readonly what: string;
  readonly model?: string;
  readonly key?: string;
  readonly extra?: Partial<Readonly<Record<Speech, object>>>;
  readonly openai: Reported;
  /** Error of Chat Completions where its upstream's own words are relayed. */
  readonly relayed?: Reported;
  readonly anthropic: Reported;
  readonly google: Reported;
}

const ROWS: readonly Row[] = [
  {
    what: 'a wrong key',
    key: 'sk-test-wrong',
    openai: [401, OPENAI, 'invalid_api_key', null],
    anthropic: [401, 'authentication_error', null],
    google: [401, 'UNAUTHENTICATED'],
  },
  {
    what: 'an unknown model',
    model: 'sim/none',
    openai: [404, OPENAI, 'model_not_found', 'model'],
    anthropic: [404, 'not_found_error', null],
    google: [404, 'NOT_FOUND'],
  },
  {
    what: 'a model that the key may not use',
    model: 'sim/chat',
    key: 'sk-test-narrow',
    openai: [403, OPENAI, 'model_not_allowed', 'model'],
    anthropic: [403, 'permission_error', null],
    google: [403, 'PERMISSION_DENIED'],
  },
  {
    what: 'a member of the wrong type',
    extra: {
      chat: { temperature: 'hot' },
      responses: { temperature: 'hot' },
      messages: { temperature: 'hot' },
      gemini: { generationConfig: { temperature: 'hot' } },
    },
    openai: [400, OPENAI, null, 'temperature'],
    anthropic: [400, 'invalid_request_error', null],
    google: [400, 'INVALID_ARGUMENT'],
  },
  {
    what: 'a body that is too large',
    extra: Object.fromEntries(SPEECHES.map((speech) => [speech, { user: 'x'.repeat(1_100_000) }])),
    openai: [413, OPENAI, 'request_too_large', null],
    anthropic: [413, 'request_too_large', null],
    google: [413, 'INVALID_ARGUMENT'],
  },
  {
    what: 'a rate limit',
    key: 'sk-test-slow',
    openai: [429, 'requests', 'rate_limit_exceeded', null],
    anthropic: [429, 'rate_limit_error', null],
    google: [429, 'RESOURCE_EXHAUSTED'],
  },
  {
    what: 'a budget that is spent',
    model: 'sim/chat',
    key: 'sk-test-spent',
    openai: [402, 'insufficient_quota', 'budget_exceeded', null],
    anthropic: [402, 'billing_error', null],
    google: [429, 'RESOURCE_EXHAUSTED'],
  },
  {
    what: 'a prompt that is too long',
    model: 'sim/context-overflow',
    openai: [400, OPENAI, 'context_length_exceeded', 'messages'],
    anthropic: [400, 'invalid_request_error', null],
    google: [400, 'INVALID_ARGUMENT'],
  },
  {
    what: 'an upstream that fails',
    model: 'sim/error-500',
    openai: [502, 'server_error', 'upstream_unavailable', null],
    relayed: [500, 'server_error', null, null],
    anthropic: [500, 'api_error', null],
    google: [503, 'UNAVAILABLE'],
  },
  {
    what: 'an upstream that is overloaded',
    model: 'sim/error-503',
    openai: [503, 'server_error', 'upstream_unavailable', null],
    relayed: [503, 'service_unavailable_error', null, null],
    anthropic: [529, 'overloaded_error', null],
    google: [503, 'UNAVAILABLE'],
  },
  {
    what: 'an upstream without credit',
    model: 'sim/error-402',
    openai: [402, 'insufficient_quota', 'insufficient_balance', null],
    anthropic: [402, 'billing_error', null],
    google: [429, 'RESOURCE_EXHAUSTED'],
  },
  {
    what: 'an upstream that limits',
    model: 'sim/error-429',
    openai: [429, 'requests', 'rate_limit_exceeded', null],
    anthropic: [429, 'rate_limit_error', null],
    google: [429, 'RESOURCE_EXHAUSTED'],
  },
];

const CASES = ROWS.flatMap((row) => SPEECHES.map((speech) => [row.what, speech, row] as const));

test.each(CASES)('%s has the error of %s', async (_, speech, row) => {
  const { openai, relayed = openai, anthropic, google } = row;
  const expected = { chat: relayed, responses: openai, messages: anthropic, gemini: google }[speech];
  const response = await post(speech, row.model ?? 'sim/echo', row.extra?.[speech], row.key);
  expect(await reportedBy(response)).toEqual(expected);
});

const NOTHING = 'there-is-none';

/** Errors that only one protocol or one family of paths has. */
const PATHS: readonly (readonly [
  what: string,
  method: string,
  path: string,
  body: object | null,
  Reported,
])[] = [
  ['a response', 'GET', '/v1/responses/resp_none', null, [404, OPENAI, null, null]],
  ['a response, deleted', 'DELETE', '/v1/responses/resp_none', null, [404, OPENAI, null, null]],
  ['items of a response', 'GET', '/v1/responses/resp_none/input_items', null, [404, OPENAI, null, null]],
  ['a conversation', 'GET', '/v1/conversations/conv_none', null, [404, OPENAI, null, null]],
  ['a file', 'GET', '/v1/files/file-none', null, [404, OPENAI, null, null]],
  ['a file, deleted', 'DELETE', '/v1/files/file-none', null, [404, OPENAI, null, null]],
  ['a model', 'GET', '/v1/models/sim/none', null, [404, OPENAI, 'model_not_found', 'model']],
  ['a path', 'POST', `/v1/${NOTHING}`, {}, [404, OPENAI, null, null]],
  [
    'vectors of an unknown model',
    'POST',
    '/v1/embeddings',
    { model: 'sim/none', input: 'Hello' },
    [404, OPENAI, 'model_not_found', 'model'],
  ],
];

test.each(PATHS)('a missing object is reported: %s', async (_, method, path, body, expected) => {
  const response = await fetch(gateway.origin + path, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(await reportedBy(response)).toEqual(expected);
});

test.each([
  ['responses', '/v1/responses/resp_none', [404, OPENAI, null, null]],
  ['conversations', '/v1/conversations/conv_none', [404, OPENAI, null, null]],
  ['prompts', '/v1/prompts/pmpt_none', [404, OPENAI, null, null]],
] as const)(
  'OpenAI\u2019s %s return errors of OpenAI, wherever a client puts its key',
  async (_, path, expected) => {
    const headers = { 'x-goog-api-key': TEST_KEY, 'x-api-key': TEST_KEY };
    expect(await reportedBy(await fetch(gateway.origin + path, { headers }))).toEqual([...expected]);
  },
);

test('files, which all three vendors have at one path, return errors in the form of the client whose key header is sent', async () => {
  const path = `${gateway.origin}/v1/files/file-none`;
  const asked = (headers: Record<string, string>) => fetch(path, { headers }).then(reportedBy);
  expect(await asked({ authorization: `Bearer ${TEST_KEY}` })).toEqual([404, OPENAI, null, null]);
  expect(await asked({ 'x-goog-api-key': TEST_KEY })).toEqual([404, 'NOT_FOUND']);
});

const PREVIOUS = [400, OPENAI, 'previous_response_not_found', 'previous_response_id'] as const;

test.each<[what: string, speech: Speech, extra: object, Reported]>([
  ['an unknown answer', 'responses', { previous_response_id: 'resp_none' }, PREVIOUS],
  [
    'an invalid response id',
    'responses',
    { previous_response_id: 'foo' },
    [400, OPENAI, 'invalid_value', 'previous_response_id'],
  ],
  [
    'an unknown conversation',
    'responses',
    { conversation: 'conv_none' },
    [404, OPENAI, null, 'conversation'],
  ],
  [
    'an invalid conversation id',
    'responses',
    { conversation: 'invalid-id' },
    [400, OPENAI, 'invalid_value', 'conversation'],
  ],
  [
    'an invalid conversation id, as an object',
    'responses',
    { conversation: { id: 'resp_1' } },
    [400, OPENAI, 'invalid_value', 'conversation.id'],
  ],
  [
    'an unknown item',
    'responses',
    { input: [{ type: 'item_reference', id: 'msg_none' }] },
    [404, OPENAI, null, 'input[0].id'],
  ],
  [
    'an unknown thread',
    'messages',
    { thread: { type: 'continue', previous_message_id: 'msg_none' } },
    [404, 'not_found_error', 'thread_not_found'],
  ],
  [
    'a limit below the least',
    'responses',
    { model: 'owner/any', max_output_tokens: 15 },
    [400, OPENAI, 'integer_below_min_value', 'max_output_tokens'],
  ],
])('a refusal has its documented form: %s', async (_, speech, extra, expected) => {
  expect(await reportedBy(await post(speech, 'sim/echo', extra))).toEqual(expected);
});

test('a minimum that only some endpoints have refuses no request', async () => {
  const response = await post('responses', 'sim/chat', { max_output_tokens: 15 });
  expect(response.status).toBe(200);
  await response.text();
});
