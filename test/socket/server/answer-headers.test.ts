// Headers that every answer has, whoever makes it: caches on the way keep nothing, and no browser guesses what it is.
import { afterAll, expect, test } from 'bun:test';
import { startGateway, TEST_KEY } from '../../support/harness.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CHAT = { model: 'sim/echo', messages: MESSAGES };
const MESSAGE = { ...CHAT, max_tokens: 100 };
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

const post = (path: string, body: unknown): [string, RequestInit] => [
  path,
  { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
];
const get = (path: string): [string, RequestInit] => [path, {}];

test.each<[status: number, caching: string, request: [string, RequestInit]]>([
  [200, 'no-store', get('/')],
  [200, 'no-store', get('/healthz')],
  [200, 'no-store', get('/readyz')],
  [200, 'no-store', get('/v1/models')],
  [200, 'no-store', get('/v1beta/models')],
  [404, 'no-store', get('/v1/models/nobody/none')],
  [404, 'no-store', get('/nothing.html')],
  [404, 'no-store', get('/v1/generation?id=none')],
  [404, 'no-store', get('/v1/files/none/content')],
  [405, 'no-store', get('/v1/chat/completions')],
  [426, 'no-store', get('/v1/responses')],
  [200, 'no-store', post('/v1/chat/completions', CHAT)],
  [200, 'no-store, no-transform', post('/v1/chat/completions', { ...CHAT, stream: true })],
  [400, 'no-store', post('/v1/chat/completions', '{')],
  [404, 'no-store', post('/v1/chat/completions', { ...CHAT, model: 'none/none' })],
  [200, 'no-store', post('/v1/responses', { model: 'sim/echo', input: 'Hello' })],
  [200, 'no-store, no-transform', post('/v1/messages', { ...MESSAGE, stream: true })],
  [200, 'no-store', post('/v1/messages/count_tokens', MESSAGE)],
  [200, 'no-store', post('/v1beta/models/sim/echo:generateContent', CONTENTS)],
  [200, 'no-store, no-transform', post('/v1beta/models/sim/echo:streamGenerateContent', CONTENTS)],
  [404, 'no-store', post('/v1beta/models/sim/echo:other', CONTENTS)],
  [200, 'no-store', post('/v1/route/explain', CHAT)],
])('is neither cached nor sniffed: %d %s %j', async (status, caching, [path, init]) => {
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const answer = await fetch(gateway.origin + path, { ...init, headers });
  await answer.text();
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, caching]);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a refused key gets headers against caching and sniffing', async () => {
  const answer = await fetch(`${gateway.origin}/v1/models`);
  expect(answer.status).toBe(401);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});
