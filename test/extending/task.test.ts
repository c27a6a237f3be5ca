// A task is one folder and one line: a copy of the sources gets a task of this folder's own. Everything that holds for requests
// holds for it, over sockets, without a change to any other file.
import { expect, test } from 'bun:test';
import { KEYS, startWithTask } from './extended-gateway.ts';

const BODY = { model: 'house/rhyme', words: ['moon', 'june'] };

/** Paths at which the broken upstream was asked. */
const asked: string[] = [];
const gateway = await startWithTask(
  'toy-task.ts',
  'rhymes',
  'broken',
  ({ url }) => {
    asked.push(new URL(url).pathname);
    return Response.json({ error: { message: 'broken' } }, { status: 500 });
  },
  {
    'house/rhyme': [
      ['broken', 'rhyme'],
      ['sim', 'rhyme'],
    ],
  },
);

function post(
  path: string,
  body: object,
  key: string = KEYS.test,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.origin}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

test('a request of a new task fails over, is recorded, and costs the usage of its upstream', async () => {
  const answer = await post('/rhymes', BODY);
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 200,
    body: { rhymes: ['rmoon', 'rjune'], model: 'house/rhyme' },
  });
  expect(answer.headers.get('x-dragoman-provider')).toBe('sim');
  expect(new Set(asked)).toEqual(new Set(['/rhymes']));
  const id = answer.headers.get('x-request-id') ?? '';
  expect(await (await gateway.get(`/v1/generation?id=${id}`)).json()).toMatchObject({
    api: 'rhymes',
    model: 'house/rhyme',
    status: 200,
    tokens: { input: 1000, output: 0 },
    usage: 0.001,
    attempts: expect.arrayContaining([
      expect.objectContaining({ provider: 'broken' }),
      expect.objectContaining({ provider: 'sim' }),
    ]),
  });
});

test('it is counted by limits and budgets', async () => {
  expect((await post('/rhymes', BODY, KEYS.limited)).status).toBe(200);
  expect((await post('/rhymes', BODY, KEYS.limited)).status).toBe(429);
  const poor = await post('/rhymes', { ...BODY, words: Array.from({ length: 50 }, () => 'moon') }, KEYS.poor);
  expect(poor.status).toBe(402);
});

test('it is served once under an idempotency key', async () => {
  const headers = { 'idempotency-key': 'rhymes-1' };
  const first = await post('/rhymes', BODY, KEYS.test, headers);
  const second = await post('/rhymes', BODY, KEYS.test, headers);
  expect(second.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
});

test('it has a metric, a description, a list of models and an explanation', async () => {
  const metrics = await (await gateway.get('/metrics', KEYS.admin)).text();
  expect(metrics).toMatch(
    /^gen_ai_server_request_duration_seconds_count\{[^}]*gen_ai_operation_name="rhymes"/m,
  );
  const { paths } = (await (await gateway.get('/openapi.json')).json()) as { paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/v1/rhymes', '/v1/rhymes/models']));
  expect(await (await gateway.get('/v1/rhymes/models')).json()).toMatchObject({
    data: [{ id: 'house/rhyme' }, { id: 'sim/rhyme' }],
  });
  const table = await (await post('/route/explain?protocol=rhymes', BODY)).json();
  // By now the broken one has failed so often that it is the last resort.
  expect(table).toMatchObject({
    candidates: [
      { endpoint: 'sim', success_rate: 1 },
      { endpoint: 'broken', state: 'open' },
    ],
  });
});

test('a model of another task refuses it, and a model of this task refuses text', async () => {
  const choice = { model: 'auto', words: ['moon'] };
  expect((await post('/rhymes', choice)).status).toBe(400);
  expect((await post('/rhymes', { ...choice, model: 'sim/chat' })).status).toBe(404);
  const messages = [{ role: 'user', content: 'hello' }];
  expect((await post('/chat/completions', { model: 'sim/rhyme', messages })).status).toBe(404);
  const wrong = await post('/rhymes', { model: 'sim/rhyme', words: [] });
  expect(await wrong.json()).toMatchObject({ error: { param: 'words' } });
});
