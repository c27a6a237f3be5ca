// A task is one folder and one line: a copy of the sources gets a task of this folder's own. Everything that holds for requests
// holds for it, over sockets, without a change to any other file.
import { afterAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, nodeLauncher, startProgram } from '../support/program.ts';
import { addFile, copySources, insert } from './copied-sources.ts';

const KEY = 'sk-test';
const LIMITED = 'sk-test-limited';
const POOR = 'sk-test-poor';
const ADMIN_KEY = 'sk-admin-0123456789';
const BODY = { model: 'house/rhyme', words: ['moon', 'june'] };

const undo: (() => unknown)[] = [];
/** Paths at which the broken upstream was asked. */
const asked: string[] = [];

const broken = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch({ url }) {
    asked.push(new URL(url).pathname);
    return Response.json({ error: { message: 'broken' } }, { status: 500 });
  },
});
undo.push(() => broken.stop(true));
const { folder, remove } = freshFolder();
undo.push(remove);
copySources(folder);
addFile(folder, 'toy-task.ts', 'src/engine/tasks/rhymes/index.ts');
insert(folder, 'src/engine/tasks/index.ts', [
  ["import { embeddings } from './embeddings/index.ts';\n", "import { rhymes } from './rhymes/index.ts';\n"],
  ['readonly Task[] = [text,', ' rhymes,'],
]);
const config = join(folder, 'config.json');
const settings = {
  server: { admin_key: ADMIN_KEY },
  keys: [
    { name: 'test', key: KEY },
    { name: 'limited', key: LIMITED, limits: [{ requests: 1, per: 'day' }] },
    { name: 'poor', key: POOR, budgets: [{ usd: 0.000001, per: 'day' }] },
  ],
  providers: { broken: { api_key: 'none', protocols: { 'openai-chat': broken.url.origin } } },
  models: [
    {
      id: 'house/rhyme',
      output_modalities: ['rhymes'],
      price: { input: 1, output: 0 },
      endpoints: [
        { provider: 'broken', model: 'rhyme' },
        { provider: 'sim', model: 'rhyme' },
      ],
    },
  ],
};
writeFileSync(config, JSON.stringify(settings));
const gateway = await startProgram(['serve', '--port', '0', '--config', config], {
  folder,
  environment: { DRAGOMAN_DATA_DIR: join(folder, 'data') },
  command: nodeLauncher(folder),
});
undo.push(() => gateway.stop());

afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

function post(
  path: string,
  body: object,
  key = KEY,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.origin}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function get(path: string, key = KEY): Promise<Response> {
  return fetch(gateway.origin + path, { headers: { authorization: `Bearer ${key}` } });
}

test('a request of a new task fails over, is recorded, and costs what its upstream counted', async () => {
  const answer = await post('/rhymes', BODY);
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 200,
    body: { rhymes: ['rmoon', 'rjune'], model: 'house/rhyme' },
  });
  expect(answer.headers.get('x-dragoman-provider')).toBe('sim');
  expect(new Set(asked)).toEqual(new Set(['/rhymes']));
  const id = answer.headers.get('x-request-id') ?? '';
  expect(await (await get(`/v1/generation?id=${id}`)).json()).toMatchObject({
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
  expect((await post('/rhymes', BODY, LIMITED)).status).toBe(200);
  expect((await post('/rhymes', BODY, LIMITED)).status).toBe(429);
  const poor = await post('/rhymes', { ...BODY, words: Array.from({ length: 50 }, () => 'moon') }, POOR);
  expect(poor.status).toBe(402);
});

test('it is served once under an idempotency key', async () => {
  const headers = { 'idempotency-key': 'rhymes-1' };
  const first = await post('/rhymes', BODY, KEY, headers);
  const second = await post('/rhymes', BODY, KEY, headers);
  expect(second.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
});

test('it has a metric, a description, a list of models and an explanation', async () => {
  const metrics = await (await get('/metrics', ADMIN_KEY)).text();
  expect(metrics).toMatch(
    /^gen_ai_server_request_duration_seconds_count\{[^}]*gen_ai_operation_name="rhymes"/m,
  );
  const { paths } = (await (await get('/openapi.json')).json()) as { paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/v1/rhymes', '/v1/rhymes/models']));
  expect(await (await get('/v1/rhymes/models')).json()).toMatchObject({
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
