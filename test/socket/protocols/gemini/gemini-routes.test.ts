// Gemini's addresses on real sockets: where the model, the method, the key and the form of a stream stand, and what
// an upstream of the same protocol sees of them.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { cutAfter, opened, stream as sse, whole } from '../../../support/upstreams/answers.ts';
import { ArmedClock } from '../../../support/upstreams/armed-clock.ts';
import { dialect, streamOf } from '../../../support/upstreams/dialects.ts';
import { startScene, recordOf, StreamReading } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import { startGateway, TEST_KEY } from '../../../support/harness.ts';

const clock = new ArmedClock();
const up = dialect('gemini', 'up-0001');
const BODY = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

const scene = await startScene(['up'], {
  clock,
  faithful: true,
  config: { logging: { level: 'debug' }, routing: { retries: 0 } },
});
afterEach(() => {
  clock.impatient = false;
  clock.advance(600_000);
});
afterAll(() => scene[Symbol.asyncDispose]());

function post(path: string, headers: Record<string, string> = { 'x-goog-api-key': TEST_KEY }, body = BODY) {
  return fetch(scene.gateway.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const textOf = (chunks: readonly unknown[]): string =>
  chunks.map((chunk) => at(chunk, 'candidates', 0, 'content', 'parts', 0, 'text') ?? '').join('');

test.each([
  '/v1beta/models/one/gemini:generateContent',
  '/v1alpha/models/one/gemini:generateContent',
  '/v1beta/models/one%2Fgemini:generateContent',
  '/v1beta/models/models/one/gemini:generateContent',
  '/v1beta/one/gemini:generateContent',
  '/v1/models/one/gemini:generateContent',
  '/api/v1/models/one%2Fgemini:generateContent',
  // Clients add only this to their base URL, of which users forget the version.
  '/models/one/gemini:generateContent',
  '/api/vertex-ai/v1/publishers/one/models/gemini:generateContent',
  '/api/vertex-ai/v1beta1/projects/p/locations/l/publishers/one/models/gemini:generateContent',
])('%s', async (path) => {
  const upstream = scene.upstream('up');
  upstream.script(whole(up.whole('Hi')));
  const response = await post(path);
  expect(response.status).toBe(200);
  const body = (await response.json()) as Json;
  const id = response.headers.get('x-request-id');
  // Relayed: but for its names the answer is the upstream's.
  expect(response.headers.get('x-dragoman-lane')).toBe('relay');
  expect(body).toEqual({ ...(up.whole('Hi') as object), modelVersion: 'one/gemini', responseId: id });
  expect(upstream.requests.map((request) => request.path)).toEqual(['/v1beta/models/m:generateContent']);
  expect(upstream.requests[0]?.headers['x-goog-api-key']).toBe('sk-upstream-test');
  expect(upstream.requests[0]?.json).toEqual(BODY);
  const record = await recordOf(scene.gateway, response);
  expect([at(record, 'api'), at(record, 'requested_model'), at(record, 'streamed')]).toEqual([
    'generateContent',
    'one/gemini',
    false,
  ]);
});

test('an unknown method of a model is a 404 in the form of Google', async () => {
  const paths = ['one/gemini:embedAll', ':generateContent'].map((end) => `/v1beta/models/${end}`);
  for (const path of [...paths, '/api/vertex-ai/v1/models:generateContent', '/v1/models/x%zz:generate']) {
    const response = await post(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
  }
});

test('a model is read, and not posted to', async () => {
  const response = await post('/v1beta/models/one/gemini');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  await response.text();
});

describe('keys', () => {
  test('are read from the query if no header has one, and are in no log', async () => {
    scene.upstream('up').always(whole(up.whole('Hi')));
    const path = '/v1beta/models/one/gemini:generateContent?key=';
    expect((await post(path + TEST_KEY, {})).status).toBe(200);
    expect((await post('/v1beta/models/one/gemini:countTokens?key=' + TEST_KEY, {})).status).toBe(200);
    const refused = await post(`${path}sk-test-wrong-key`, {});
    expect(refused.status).toBe(401);
    const reported = await refused.text();
    expect(JSON.parse(reported)).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
    expect(reported).not.toContain('sk-test-wrong-key');
    // A key in a header is the one that counts.
    expect((await post(path + TEST_KEY, { 'x-goog-api-key': 'sk-test-wrong-key' })).status).toBe(401);
    const models = await fetch(`${scene.gateway.origin}/v1beta/models?key=${TEST_KEY}`);
    expect(list(await models.json(), 'models').length).toBeGreaterThan(3);
    for (const request of scene.upstream('up').requests) expect(request.path).not.toContain('key=');
    expect(scene.gateway.logLines.join('\n')).not.toContain('sk-test');
  });

  test('in the query are not accepted by other protocols', async () => {
    const response = await post(`/v1/chat/completions?key=${TEST_KEY}`, {});
    expect(response.status).toBe(401);
  });
});

describe('a stream without alt=sse is one JSON array', () => {
  const PATH = '/v1beta/models/one/gemini:streamGenerateContent';

  test('of the same chunks, although the upstream sends events', async () => {
    const upstream = scene.upstream('up');
    upstream.always(sse(streamOf(up, 'One, ', 'two.')));
    const response = await post(PATH);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
    const chunks = (await response.json()) as Json[];
    expect(textOf(chunks)).toBe('One, two.');
    expect(at(chunks.at(-1), 'candidates', 0, 'finishReason')).toBe('STOP');
    expect(upstream.requests[0]?.path).toBe('/v1beta/models/m:streamGenerateContent?alt=sse');
    const events = await post(`${PATH}?alt=sse`);
    expect(events.headers.get('content-type')).toStartWith('text/event-stream');
    expect(events.headers.get('x-dragoman-lane')).toBe('relay');
    await events.text();
  });

  test('white space keeps it alive, before the first chunk and between two', async () => {
    const upstream = scene.upstream('up');
    upstream.script(opened());
    const asked = post(PATH);
    const exchange = await upstream.arrived(1);
    clock.advance(10_100);
    const reading = new StreamReading(await asked);
    await reading.until('\n');
    exchange.chunk(up.piece('One, '));
    await reading.until('One, ');
    const before = reading.text.length;
    clock.advance(10_100);
    while (reading.text.length === before) await reading.more();
    exchange.chunk(up.piece('two.') + up.ending(''));
    exchange.endStream();
    const text = await reading.rest();
    expect(text).toStartWith('\n[');
    expect(textOf(JSON.parse(text) as Json[])).toBe('One, two.');
  });

  test('a failure in its middle is its last element', async () => {
    scene.upstream('up').script(cutAfter(up.piece('One, ')));
    const response = await post(PATH);
    const chunks = (await response.json()) as Json[];
    expect(response.status).toBe(200);
    expect(textOf(chunks)).toBe('One, ');
    expect(chunks.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
  });
});

test('an idempotency key belongs to a body and an address', async () => {
  const upstream = scene.upstream('up');
  upstream.always(whole(up.whole('Hi')));
  const headers = { 'x-goog-api-key': TEST_KEY, 'idempotency-key': 'k1' };
  const first = await (await post('/v1beta/models/one/gemini:generateContent', headers)).text();
  // The same model in another spelling of the address.
  const again = await post('/v1/models/one%2Fgemini:generateContent', headers);
  expect([await again.text(), again.headers.get('idempotent-replayed')]).toEqual([first, 'true']);
  expect(upstream.requests).toHaveLength(1);
  for (const other of ['one/chat:generateContent', 'one/gemini:streamGenerateContent']) {
    const conflict = await post(`/v1beta/models/${other}`, headers);
    expect(conflict.status).toBe(409);
    expect(await conflict.json()).toMatchObject({ error: { code: 409, status: 'ABORTED' } });
  }
});

test("names of models cannot lead a request to another of the upstream's addresses", async () => {
  const upstream = scene.upstream('up');
  upstream.always(whole(up.whole('Hi')));
  const protocols = { gemini: `${upstream.origin}/v1beta` };
  await using gateway = await startGateway({ providers: { only: { api_key: 'sk-test', protocols } } });
  const statusOf = async (name: string): Promise<number> => {
    const body = { contents: [{ parts: [{ text: 'Hello' }] }] };
    const response = await gateway.post(`/models/only%2F${name}:generateContent`, body);
    await response.text();
    return response.status;
  };
  for (const name of ['..%2F..%2Fadmin', 'a%2F%2Fb', 'a%2F%2E%2E'])
    expect([name, await statusOf(name)]).toEqual([name, 404]);
  expect(upstream.requests).toEqual([]);
  expect(await statusOf('a%3Fb%23c')).toBe(200);
  expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1beta/models/a%3Fb%23c:generateContent']);
});

test('its requests can be explained as they are', async () => {
  const explain = async (query: string, body: object, headers: Record<string, string> = {}): Promise<Json> =>
    (await (await scene.gateway.post(`/route/explain${query}`, body, headers)).json()) as Json;
  expect(await explain('?model=one/gemini', BODY)).toMatchObject({
    requested_model: 'one/gemini',
    candidates: [{ endpoint: 'up' }],
  });
  expect(await explain('', { ...BODY, model: 'models/one/chat' })).toMatchObject({
    requested_model: 'one/chat',
  });
});
