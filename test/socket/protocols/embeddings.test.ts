// Embeddings end to end: what clients may write, what each kind of upstream is sent, what comes back in either form,
// and that routing, failover, limits of time and records are those of every other request.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startGateway } from '../../support/harness.ts';
import {
  chatBody,
  chatError,
  cutHalfway,
  noAnswer,
  silence,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { attemptsOf, recordOf, UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { type Answer, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const TASK_TYPE = 'model_routing_config.task_info.task_type';
const clock = new ArmedClock();

const [first, second] = [await startUpstream(), await startUpstream()];
const endpoint = (provider: string, price: object = { input: 0.5 }): object => ({
  provider,
  model: 'text-embed-1',
  price,
});
const provider = (protocols: object): object => ({ api_key: UPSTREAM_KEY, protocols });
const gateway = await startGateway(
  {
    routing: { retries: 1, breaker: { failures: 1000 }, task_types: { embedding: ['house/embed'] } },
    keys: [
      { name: 'test', key: 'sk-test' },
      { name: 'narrow', key: 'sk-narrow', models: ['sim/*'] },
    ],
    providers: {
      first: provider({ 'openai-chat': `${first.origin}/v1` }),
      second: provider({ 'openai-chat': `${second.origin}/v1` }),
      picky: provider({
        'openai-chat': { base_url: `${first.origin}/v1`, quirks: { unknown_fields: 'drop' } },
      }),
      bytes: provider({
        'openai-chat': { base_url: `${first.origin}/v1`, quirks: { vectors: 'base64_int8' } },
      }),
      typed: provider({
        'openai-chat': {
          base_url: `${first.origin}/v1`,
          quirks: { vectors: 'output_dtype', unknown_fields: 'drop' },
        },
      }),
      answers: provider({ 'openai-responses': `${first.origin}/v1` }),
      talks: provider({ 'anthropic-messages': first.origin }),
      googly: provider({ gemini: `${first.origin}/v1beta` }),
    },
    models: [
      { id: 'house/embed', endpoints: [endpoint('first'), endpoint('second', { input: 0.1 })] },
      { id: 'house/other', endpoints: [endpoint('second')] },
      { id: 'house/mixed', endpoints: [endpoint('talks'), endpoint('second')] },
      { id: 'house/tokens', endpoints: [endpoint('googly'), endpoint('second')] },
      { id: 'house/free', endpoints: [{ provider: 'first', model: 'text-embed-1' }] },
      { id: 'house/chat', endpoints: [{ provider: 'first', model: 'm' }] },
    ],
  },
  { clock },
);
// Pauses that endpoints asked for are over by the next test.
afterEach(() => clock.advance(600_000));
afterAll(async () => {
  await gateway.close();
  await Promise.all([first.stop(), second.stop()]);
});

/** Numbers that 32-bit floats hold exactly. */
const VECTORS = [
  [0.5, -0.25, 0.125],
  [1, 0, -1],
];
const base64 = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');

function openaiBody(
  embeddings: readonly unknown[],
  usage: unknown = { prompt_tokens: 8, total_tokens: 8 },
): Json {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: 'text-embed-1', usage } as Json;
}
const good = (): Answer => whole(openaiBody(VECTORS));
const INPUT = ['a cat', 'a dog'];
const ask = (members: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  gateway.post('/embeddings', { model: 'first/text-embed-1', input: INPUT, ...members }, headers);
const vectorsOf = (body: unknown): unknown[] => list(body, 'data').map((entry) => at(entry, 'embedding'));

describe('an OpenAI-compatible upstream', () => {
  test('gets the request without the members for the gateway', async () => {
    first.script(good());
    const response = await ask({
      encoding_format: 'float',
      dimensions: 3,
      user: 'u-1',
      input_type: 'query',
      provider: { only: ['first'] },
      usage: { include: true },
    });
    const [request] = first.requests;
    expect(request?.path).toBe('/v1/embeddings');
    expect(request?.headers['authorization']).toBe(`Bearer ${UPSTREAM_KEY}`);
    expect(request?.json).toEqual({
      model: 'text-embed-1',
      input: INPUT,
      encoding_format: 'float',
      dimensions: 3,
      user: 'u-1',
      input_type: 'query',
    });
    expect(response.headers.has('x-dragoman-report')).toBe(false);
    expect(await response.json()).toEqual({
      object: 'list',
      data: VECTORS.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'first/text-embed-1',
      usage: { prompt_tokens: 8, total_tokens: 8 },
    });
  });

  test.each([
    ['a text', 'a cat', ['a cat'], 1],
    ['texts', INPUT, INPUT, 2],
    ['tokens', [1, 2, 3], [[1, 2, 3]], 1],
    ['lists of tokens', [[1, 2], [3]], [[1, 2], [3]], 2],
    ['as many texts as there may be', Array(2048).fill('x'), Array(2048).fill('x'), 2048],
  ])('receives input as %s', async (_, input, sent, count) => {
    first.script(whole(openaiBody(Array(count).fill(VECTORS[0]))));
    const response = await ask({ input });
    expect(at(first.requests[0]?.json, 'input')).toEqual(sent as Json);
    expect(vectorsOf(await response.json())).toHaveLength(count);
  });

  test.each([
    ['float', VECTORS],
    [undefined, VECTORS],
    ['base64', VECTORS.map(base64)],
  ])('may respond in either form if %p is requested', async (format, expected) => {
    for (const given of [VECTORS, VECTORS.map(base64)]) {
      first.script(whole(openaiBody(given)));
      const response = await ask({ encoding_format: format });
      expect(vectorsOf(await response.json())).toEqual(expected);
    }
  });

  test('may answer out of order, without places, or with one place for all', async () => {
    const entries = openaiBody(VECTORS);
    for (const [data, expected] of [
      [list(entries, 'data').toReversed(), VECTORS],
      [VECTORS.map((embedding) => ({ embedding })), VECTORS],
      [VECTORS.map((embedding) => ({ embedding, index: 0 })), VECTORS],
      [VECTORS.map((embedding, index) => ({ embedding, index: index + 7 })), VECTORS],
    ] as const) {
      first.script(whole({ ...(entries as object), data }));
      expect(vectorsOf(await (await ask()).json())).toEqual(expected as unknown as unknown[]);
    }
  });

  test('that rejects unknown members gets none, and the loss is reported', async () => {
    first.script(good());
    const response = await ask({ model: 'picky/text-embed-1', input_type: 'query' });
    expect(response.headers.get('x-dragoman-report')).toBe('input_type:dropped');
    expect(first.requests[0]?.json).toEqual({ model: 'text-embed-1', input: INPUT });
  });

  test('may also serve the Responses API', async () => {
    first.script(good());
    expect((await ask({ model: 'answers/text-embed-1' })).status).toBe(200);
    expect(first.requests[0]?.path).toBe('/v1/embeddings');
  });

  test('answers chats at another address, before and after', async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    first.script(whole(chatBody('Hello')), good(), whole(chatBody('Hello')));
    for (const [path, body] of [
      ['/chat/completions', { messages }],
      ['/embeddings', { input: INPUT }],
      ['/chat/completions', { messages }],
    ] as const)
      expect((await gateway.post(path, { model: 'house/chat', ...body })).status).toBe(200);
    expect(first.requests.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/embeddings',
      '/v1/chat/completions',
    ]);
  });
});

describe('elements of other types than 32-bit floats', () => {
  const BYTES = [0x80, 0xff, 0x00, 0x7f];
  const packed = Buffer.from(BYTES).toString('base64');
  const signed = [-128, -1, 0, 127];
  const answer = (embedding: unknown): Answer => whole(openaiBody([embedding, embedding]));
  const floats = (numbers: readonly number[]): string => base64(numbers);

  test.each([
    ['nothing', {}, 'base64_int8', signed],
    ['a list', { encoding_format: 'float' }, 'base64_int8', signed],
    ['what OpenAI calls base64', { encoding_format: 'base64' }, 'base64_int8', floats(signed)],
    ['signed bytes', { encoding_format: 'base64_int8' }, 'base64_int8', packed],
    ['bits', { encoding_format: 'base64_binary' }, 'base64_binary', packed],
    ['four numbers', { dimensions: 4 }, 'base64_int8', signed],
    ['32 bits', { encoding_format: 'base64_binary', dimensions: 32 }, 'base64_binary', packed],
  ])('of a server that has only bytes, requested as %s', async (_, members, sent, expected) => {
    first.script(answer(packed));
    const response = await ask({ model: 'bytes/text-embed-1', ...members });
    expect(at(first.requests[0]?.json, 'encoding_format')).toBe(sent);
    expect(vectorsOf(await response.json())).toEqual([expected, expected]);
    expect(response.headers.has('x-dragoman-report')).toBe(false);
  });

  test.each([
    ['int8', packed, signed, packed],
    ['int8', signed, signed, packed],
    ['binary', packed, signed, packed],
    ['uint8', packed, BYTES, packed],
    ['ubinary', packed, BYTES, packed],
    ['ubinary', BYTES, BYTES, packed],
    // Precisions that the gateway does not know pass as they came.
    ['float16', packed, packed, packed],
    ['float', base64([0.5]), [0.5], base64([0.5])],
  ])('of type %s, given as %p', async (type, given, asList, asBase64) => {
    for (const member of ['output_dtype', 'embed_dtype', 'embedding_type']) {
      first.script(answer(given), answer(given));
      const list = await ask({ [member]: type });
      expect(at(first.requests[0]?.json, member)).toBe(type);
      expect(vectorsOf(await list.json())).toEqual([asList, asList]);
      const bytes = await ask({ [member]: type, encoding_format: 'base64' });
      expect(vectorsOf(await bytes.json())).toEqual([asBase64, asBase64]);
    }
  });

  test('Perplexity is called at its own address', async () => {
    first.script(answer(packed));
    const perplexity = { api_key: UPSTREAM_KEY, base_url: first.origin };
    await using own = await startGateway({ providers: { perplexity } });
    const model = 'perplexity/pplx-embed-v1-0.6b';
    const response = await own.post('/embeddings', { model, input: INPUT });
    expect(first.requests[0]?.path).toBe('/v1/embeddings');
    expect(vectorsOf(await response.json())).toEqual([signed, signed]);
  });

  test('are requested with the member names of the server', async () => {
    first.script(answer(packed), answer(packed));
    const model = 'typed/text-embed-1';
    const said = await ask({ model, output_dtype: 'int8', dimensions: 4, input_type: 'query' });
    expect(said.headers.get('x-dragoman-report')).toBe('input_type:dropped');
    expect(first.requests[0]?.json).toEqual({
      model: 'text-embed-1',
      input: INPUT,
      output_dtype: 'int8',
      output_dimension: 4,
    });
    expect(vectorsOf(await said.json())).toEqual([signed, signed]);
    const translated = await ask({ model, encoding_format: 'base64_int8' });
    expect(first.requests[1]?.json).toMatchObject({ output_dtype: 'int8', encoding_format: 'base64' });
    expect(vectorsOf(await translated.json())).toEqual([packed, packed]);
  });

  test.each([
    ['googly/gemini-embedding-001', { encoding_format: 'base64_int8' }, 'encoding_format'],
    ['googly/gemini-embedding-001', { encoding_format: 'base64', output_dtype: 'int8' }, 'output_dtype'],
    ['picky/text-embed-1', { encoding_format: 'base64', output_dtype: 'int8' }, 'output_dtype'],
    ['typed/text-embed-1', { encoding_format: 'base64_binary' }, 'encoding_format'],
    ['bytes/text-embed-1', { encoding_format: 'base64', output_dtype: 'uint8' }, 'output_dtype'],
  ])('are refused as base64 if %s does not support it', async (model, members, param) => {
    first.script();
    const refused = await ask({ model, ...members });
    expect([refused.status, at(await refused.json(), 'error', 'param')]).toEqual([400, param]);
    expect(first.requests).toHaveLength(0);
  });
});

describe('a Gemini upstream', () => {
  const geminiBody = (more: object = {}): Json =>
    ({ embeddings: VECTORS.map((values) => ({ values })), ...more }) as Json;

  test('gets one request of a batch for each text', async () => {
    first.script(whole(geminiBody({ usageMetadata: { promptTokenCount: 6 } })));
    const response = await ask({
      model: 'googly/gemini-embedding-001',
      dimensions: 3,
      encoding_format: 'base64',
    });
    const [request] = first.requests;
    expect(request?.path).toBe('/v1beta/models/gemini-embedding-001:batchEmbedContents');
    expect(request?.headers['x-goog-api-key']).toBe(UPSTREAM_KEY);
    expect(request?.json).toEqual({
      requests: INPUT.map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
        outputDimensionality: 3,
      })),
    });
    const body = await response.json();
    expect(vectorsOf(body)).toEqual(VECTORS.map(base64));
    expect(at(body, 'usage')).toEqual({ prompt_tokens: 6, total_tokens: 6 });
    expect(at(await recordOf(gateway, response), 'estimated')).toBe(false);
  });

  test('that counts nothing has its tokens estimated', async () => {
    first.script(whole(geminiBody()));
    const response = await ask({ model: 'googly/gemini-embedding-001' });
    expect(at(await response.json(), 'usage')).toEqual({ prompt_tokens: 4, total_tokens: 4 });
    expect(at(await recordOf(gateway, response), 'estimated')).toBe(true);
  });

  test('reports the members that it does not support', async () => {
    const model = 'googly/gemini-embedding-001';
    first.script(whole(geminiBody()));
    const response = await ask({ model, user: 'u-1', input_type: 'query' });
    expect(response.headers.get('x-dragoman-report')).toBe('user:dropped, input_type:dropped');
    first.script();
    const strict = await ask({ model, user: 'u-1' }, { 'x-dragoman-strict': 'true' });
    expect([strict.status, at(await strict.json(), 'error', 'param')]).toEqual([400, 'user']);
    expect(first.requests).toHaveLength(0);
  });

  test('gets no tokens: another endpoint gets them, or the client gets an error', async () => {
    first.script();
    second.script(whole(openaiBody([VECTORS[0]])));
    const input = [[1, 2]];
    const answered = await ask({ model: 'house/tokens', input });
    expect(answered.headers.get('x-dragoman-provider')).toBe('second');
    const refused = await ask({ model: 'googly/gemini-embedding-001', input });
    expect([refused.status, at(await refused.json(), 'error', 'param')]).toEqual([400, 'input']);
    expect(first.requests).toHaveLength(0);
  });

  test('gets a large input in several batches, whose responses are merged', async () => {
    const embeddings = (count: number): Json => ({
      embeddings: Array.from({ length: count }, (_, at) => ({ values: [count, at] })),
    });
    first.script(whole(embeddings(100)), whole(embeddings(1)));
    const input = Array.from({ length: 101 }, (_, at) => `text ${at}`);
    const answered = await ask({ model: 'googly/gemini-embedding-001', input });
    expect(answered.headers.get('x-dragoman-attempts')).toBe('2');
    const sent = first.requests.map(({ json }) => list(json, 'requests').length).toSorted((a, b) => b - a);
    expect(sent).toEqual([100, 1]);
    const vectors = vectorsOf(await answered.json());
    expect([vectors.length, vectors[99], vectors[100]]).toEqual([101, [100, 99], [1, 0]]);
  });

  test("names the upstream's complaint in OpenAI's shape", async () => {
    const error = { code: 400, message: 'Unable to submit request', status: 'INVALID_ARGUMENT' };
    first.script(whole({ error }, 400));
    const refused = await ask({ model: 'googly/gemini-embedding-001' });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('Unable to submit'), type: 'invalid_request_error' },
    });
  });
});

describe('a wrong request is a 400 that names the member', () => {
  test.each([
    ['no input', { input: undefined }, 'input'],
    ['an empty text', { input: '' }, 'input'],
    ['no texts', { input: [] }, 'input'],
    ['an empty text among others', { input: ['a', ''] }, 'input[1]'],
    ['a number among texts', { input: ['a', 1] }, 'input[1]'],
    ['a text among tokens', { input: [1, 'a'] }, 'input[1]'],
    ['a text among lists of tokens', { input: [[1], 'a'] }, 'input[1]'],
    ['a broken token', { input: [1.5] }, 'input[0]'],
    ['a negative token', { input: [[1], [2, -1]] }, 'input[1][1]'],
    ['no tokens', { input: [[1], []] }, 'input[1]'],
    ['an object', { input: { text: 'a' } }, 'input'],
    ['objects', { input: [{ text: 'a' }] }, 'input[0]'],
    ['too many texts', { input: Array(2049).fill('a') }, 'input'],
    ['no model', { model: undefined }, 'model'],
    ['an unknown format', { encoding_format: 'hex' }, 'encoding_format'],
    ['half a dimension', { dimensions: 1.5 }, 'dimensions'],
    ['no dimensions', { dimensions: 0 }, 'dimensions'],
    ['a numbered user', { user: 7 }, 'user'],
    ['an unknown routing option', { provider: { routing: { type: 'best' } } }, 'provider.routing.type'],
    ['another task', { model_routing_config: { task_info: { task_type: 'chat' } } }, TASK_TYPE],
    ['an open choice', { model: 'dragoman/auto' }, 'model'],
    ['an open choice as a fallback', { models: ['auto'] }, 'models[0]'],
  ])('%s', async (_, members, param) => {
    first.script();
    const response = await ask(members);
    const body = await response.json();
    expect([response.status, at(body, 'error', 'param')]).toEqual([400, param]);
    expect(at(body, 'error', 'type')).toBe('invalid_request_error');
    expect(first.requests).toHaveLength(0);
  });

  test('and of an unknown model, a 404; of a forbidden one, a 403', async () => {
    const unknown = await ask({ model: 'house/embeb' });
    expect([unknown.status, at(await unknown.json(), 'error', 'code')]).toEqual([404, 'model_not_found']);
    const forbidden = await ask({}, { authorization: 'Bearer sk-narrow' });
    expect([forbidden.status, at(await forbidden.json(), 'error', 'param')]).toEqual([403, 'model']);
    expect((await ask({}, { authorization: 'Bearer sk-nobody' })).status).toBe(401);
  });
});

describe('failures are hidden by the next endpoint', () => {
  const few = whole(openaiBody([VECTORS[0]]));
  const failures: Record<string, Answer> = {
    'no answer': noAnswer,
    'half an answer': cutHalfway(openaiBody(VECTORS)),
    'status 401': chatError(401),
    'status 404': chatError(404),
    'status 429': chatError(429),
    'status 503': chatError(503),
    'too few vectors': few,
    'a vector with holes': whole(openaiBody([VECTORS[0], [0.5, null]])),
    'an empty vector': whole(openaiBody([VECTORS[0], []])),
    'an infinite number': whole(JSON.stringify(openaiBody(VECTORS)).replace('0.125', '1e999')),
    'base64 of no number': whole(openaiBody([base64([NaN]), base64([1])])),
    'base64 of nothing': whole(openaiBody(['****', 'AAAAAA=='])),
    'broken base64': whole(openaiBody(['AAAA', 'AAAA'])),
    'an answer to something else': whole(chatBody('Hello')),
    'a stream': sse('data: {}\n\n'),
    'no JSON': whole('<html>'),
  };
  test.each(Object.keys(failures))('%s', async (name) => {
    clock.impatient = true;
    first.always(failures[name] ?? noAnswer);
    second.script(good());
    const response = await ask({ model: 'house/embed' });
    clock.impatient = false;
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
    expect(vectorsOf(await response.json())).toEqual(VECTORS);
    const record = await recordOf(gateway, response);
    const attempts = attemptsOf(record);
    expect(attempts.at(-1)).toBe('second completed');
    expect(new Set(attempts.slice(0, -1))).toEqual(new Set(['first failed']));
    // Endpoints that failed are not paid.
    expect(at(record, 'cost', 'usd')).toBe(8e-7);
  });

  test.each([
    ['float', VECTORS],
    ['base64', VECTORS.map(base64)],
  ])('another length than the client requested, in %s', async (encoding_format, vectors) => {
    first.always(whole(openaiBody(vectors)));
    second.script(whole(openaiBody([VECTORS[0]?.slice(0, 2), VECTORS[1]?.slice(0, 2)])));
    clock.impatient = true;
    const response = await ask({ model: 'house/embed', dimensions: 2, encoding_format });
    clock.impatient = false;
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
  });

  test('an endpoint of a protocol without embeddings is passed over', async () => {
    first.script();
    second.script(good());
    const response = await ask({ model: 'house/mixed' });
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
    const only = await ask({ model: 'talks/text-embed-1' });
    expect([only.status, at(await only.json(), 'error', 'param')]).toEqual([400, 'model']);
  });

  test('a silent endpoint is abandoned after its time limit', async () => {
    first.script(silence);
    second.script(good());
    const asked = ask({ model: 'house/embed' });
    await first.arrived(1);
    clock.advance(300_100);
    const response = await asked;
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
    first.script(silence);
    const late = ask({ provider: { timeout_ms: 1000 } });
    await first.arrived(1);
    clock.advance(1200);
    expect((await late).status).toBe(504);
  });

  test('unless the client is at fault, or no endpoint can serve the request', async () => {
    first.script(chatError(400));
    second.script();
    const refused = await ask({ model: 'house/embed' });
    expect(refused.status).toBe(400);
    expect(at(await refused.json(), 'error', 'message')).toContain('scripted 400');
    expect(second.requests).toHaveLength(0);

    clock.impatient = true;
    first.always(chatError(503));
    second.always(noAnswer);
    const nobody = await ask({ model: 'house/embed' });
    clock.impatient = false;
    expect([nobody.status, nobody.headers.get('x-should-retry')]).toEqual([502, 'false']);
    expect(nobody.headers.get('x-dragoman-attempts')).toBe('4');
    const record = await recordOf(gateway, nobody);
    expect([at(record, 'status'), at(record, 'cost'), at(record, 'usage')]).toEqual([502, null, null]);
  });

  test('a client that leaves stops the upstream', async () => {
    first.script(silence);
    const controller = new AbortController();
    const asked = fetch(`${gateway.baseURL}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'first/text-embed-1', input: 'a cat' }),
      signal: controller.signal,
    });
    const exchange = await first.arrived(1);
    clock.advance(100);
    controller.abort();
    await asked.catch(() => {});
    await exchange.closed;
  });
});

describe('routing', () => {
  test('applies the routing options of a request', async () => {
    second.script(good(), good());
    for (const provider of [
      { order: ['second'] },
      { routing: { type: 'priority', primary_factor: 'cost' } },
    ]) {
      const response = await ask({ model: 'house/embed', provider });
      expect(response.headers.get('x-dragoman-provider')).toBe('second');
    }
  });

  test('chooses among embedding models that are named or meant for the task', async () => {
    const config = (more: object): object => ({ model: 'auto', model_routing_config: more });
    first.script(good(), good());
    for (const members of [
      config({ task_info: { task_type: 'embedding' } }),
      config({ available_models: ['house/chat', 'house/embed'] }),
    ])
      expect((await ask(members)).headers.get('x-dragoman-model')).toBe('house/embed');
  });

  test('falls back to other models only if the request names them', async () => {
    first.always(chatError(404));
    second.script(good());
    const response = await ask({ models: ['house/other'] });
    expect(at(await response.json(), 'model')).toBe('house/other');
    expect((await ask()).status).toBe(404);
  });

  test('is explained like that of a chat', async () => {
    first.script();
    const explain = (body: object): Promise<Response> =>
      gateway.post('/route/explain?protocol=embeddings', body);
    const table = await (await explain({ model: 'house/embed', input: INPUT })).json();
    expect(list(table, 'candidates').map((candidate) => at(candidate, 'endpoint'))).toEqual([
      'first',
      'second',
    ]);
    const refused = await (await explain({ model: 'house/embed', input: '' })).json();
    expect(at(refused, 'error', 'param')).toBe('input');
    expect(first.requests).toHaveLength(0);
  });

  test('never gives a chat to a model that embeds', async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    first.always(whole(chatBody('Hello')));
    const response = await gateway.post('/chat/completions', { model: 'auto', messages });
    expect(response.headers.get('x-dragoman-model')).toBe('house/chat');
  });
});

describe('records and retries', () => {
  test('a record has tokens, cost and the attempt', async () => {
    first.script(good());
    const response = await ask({ model: 'house/embed', usage: { include: true } });
    const cost = (8 * 0.5) / 1_000_000;
    expect(at(await response.json(), 'usage', 'cost')).toBe(cost);
    const record = await recordOf(gateway, response);
    expect(record).toMatchObject({
      api: 'embeddings',
      model: 'house/embed',
      provider: 'first',
      streamed: false,
      status: 200,
      estimated: false,
      cost: { usd: cost, items: { input: cost } },
      native_tokens: { prompt_tokens: 8, completion_tokens: 0, total_tokens: 8 },
    });
    expect(list(record, 'attempts')).toHaveLength(1);
    expect(at(record, 'attempts', 0)).toMatchObject({
      outcome: 'completed',
      model: 'text-embed-1',
      status: 200,
    });
    expect(at(record, 'route', 'candidates', 0, 'endpoint')).toBe('first');
  });

  test('an unknown price is null', async () => {
    first.script(good());
    const response = await ask({ model: 'house/free', usage: { include: true } });
    expect(at(await response.json(), 'usage')).toEqual({ prompt_tokens: 8, total_tokens: 8 });
  });

  test.each([
    [{ total_tokens: 9 }, 9, false],
    [undefined, 4, true],
    [{}, 4, true],
  ])('usage %p counts %d tokens', async (usage, tokens, estimated) => {
    first.script(whole({ ...(openaiBody(VECTORS) as object), usage }));
    const response = await ask();
    expect(at(await response.json(), 'usage')).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(at(await recordOf(gateway, response), 'estimated')).toBe(estimated);
  });

  test('an idempotency key gets the first answer again', async () => {
    first.script(good());
    const headers = { 'idempotency-key': 'embed-1' };
    const bodies = [await (await ask({}, headers)).text(), await (await ask({}, headers)).text()];
    expect(bodies[1]).toBe(bodies[0] ?? '');
    expect(first.requests).toHaveLength(1);
  });
});

describe("OpenAI's SDK", () => {
  const client = (): OpenAI => new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL, maxRetries: 0 });
  const dot = (a: readonly number[] = [], b: readonly number[] = []): number =>
    a.reduce((sum, x, index) => sum + x * (b[index] ?? 0), 0);

  test('reads numbers, although it requests base64 by default', async () => {
    first.script(good());
    const answer = await client().embeddings.create({ model: 'first/text-embed-1', input: INPUT });
    expect(at(first.requests[0]?.json, 'encoding_format')).toBe('base64');
    expect(answer.data.map(({ embedding }) => Array.from(embedding))).toEqual(VECTORS);
    expect(answer.usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
  });

  test('gets the same vectors from the simulated model every time, like for like', async () => {
    const input = ['The cat sat on the mat.', 'A cat sat on a mat', 'Interest rates rose sharply'];
    const make = (): Promise<OpenAI.CreateEmbeddingResponse> =>
      client().embeddings.create({ model: 'sim/embed', input, dimensions: 128 });
    const [one, two] = [await make(), await make()];
    expect(two).toEqual(one);
    const [cat, alike, other] = one.data.map(({ embedding }) => embedding);
    expect(cat).toHaveLength(128);
    expect(dot(cat, cat)).toBeCloseTo(1, 5);
    expect(dot(cat, alike)).toBeGreaterThan(dot(cat, other) + 0.2);
  });

  test('gets the error of the gateway and of the simulated model', async () => {
    for (const [body, param] of [
      [{ model: 'sim/embed', input: [] }, 'input'],
      [{ model: 'sim/embed', input: 'x', dimensions: 100_000 }, 'dimensions'],
      [{ model: 'sim/embed', input: 'x '.repeat(20_000) }, 'input'],
      [{ model: 'sim/chat', input: 'x' }, 'model'],
    ] as const) {
      const failed = client().embeddings.create({ ...body, input: body.input as string });
      expect(await failed.catch((error: unknown) => error)).toMatchObject({ param });
    }
  });
});

describe('models that embed', () => {
  test('are found by their ids, and listed by themselves', async () => {
    await using library = await startGateway({
      providers: {
        openai: { api_key: 'sk-test' },
        google: { api_key: 'sk-test' },
        anthropic: { api_key: 'sk-test' },
      },
    });
    const ids = async (path: string): Promise<unknown[]> =>
      list(await (await library.get(path)).json(), 'data').map((entry) => at(entry, 'id'));
    const embedders = await ids('/embeddings/models');
    expect(embedders).toEqual(
      expect.arrayContaining(['google/gemini-embedding-001', 'openai/text-embedding-3-small', 'sim/embed']),
    );
    expect((await ids('/models')).filter((id) => embedders.includes(id))).toEqual([]);
    for (const id of ['openai/text-embedding-3-small', 'text-embedding-3-small', 'gemini-embedding-001']) {
      const model = await (await library.get(`/models/${id}`)).json();
      expect(model).toMatchObject({
        architecture: { modality: 'text->embeddings' },
        supported_parameters: ['dimensions', 'encoding_format', 'user'],
        pricing: { completion: '0' },
      });
    }
  });

  test('are listed with the others if they are configured', async () => {
    const ids = list(await (await gateway.get('/models')).json(), 'data').map((entry) => at(entry, 'id'));
    expect(ids).toContain('house/embed');
    const narrow = await fetch(`${gateway.baseURL}/embeddings/models`, {
      headers: { authorization: 'Bearer sk-narrow' },
    });
    expect(list(await narrow.json(), 'data').map((entry) => at(entry, 'id'))).toEqual(['sim/embed']);
  });
});
