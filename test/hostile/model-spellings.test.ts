// Spellings of a model by which a client would pass by the limits that name it.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../support/harness.ts';

const HOUR = 'hour';
const ONE = { requests: 1, per: HOUR };
const messages = [{ role: 'user', content: 'a' }];
const upstream = Bun.serve({
  port: 0,
  fetch: () =>
    Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'a',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
});

const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
const config = {
  keys: [
    { name: 'a', key: 'sk-test-a', limits: [{ ...ONE, models: ['up/a'] }] },
    { name: 'b', key: 'sk-test-b', limits: [{ ...ONE, models: ['nice/name'] }] },
    { name: 'c', key: 'sk-test-c', limits: [{ ...ONE, models: ['up//models/llama'] }] },
    { name: 'narrow', key: 'sk-test-narrow', models: ['up/other'] },
  ],
  providers: { up: { api_key: 'none', protocols } },
  models: [
    { id: 'nice/name', endpoints: [{ provider: 'up', model: 'a' }] },
    { id: 'up/other', endpoints: [{ provider: 'up', model: 'other' }] },
    { id: 'up//models/llama', endpoints: [{ provider: 'up', model: '/models/llama' }] },
  ],
};
const gateway = await startGateway(config);
const strict = await startGateway({ ...config, catalog: { only_known: true } });
afterAll(async () => {
  await gateway.close();
  await strict.close();
  await upstream.stop(true);
});

async function ask(model: string, key: string, at = gateway): Promise<number> {
  const answer = await at.post('/chat/completions', { model, messages }, { authorization: `Bearer ${key}` });
  await answer.text();
  return answer.status;
}

const COUNTED = [
  'up/A',
  'up//a',
  'up/./a',
  'up/b/../a',
  'up/a/',
  'up/a?x',
  'up/a#x',
  'up/%61',
  'up/ａ',
  'up/a:free',
];
const REFUSED = [
  'up/a ',
  ' up/a',
  'up/a\u200B',
  'up/a\u0000',
  'up/\u2060a',
  'up/a\t',
  'up/a\uFEFF',
  'up/a\n',
];

describe('a limit of a model counts', () => {
  test('every spelling of it, and invisible characters are refused', async () => {
    expect(await ask('up/a', 'sk-test-a')).toBe(200);
    for (const model of [...COUNTED, 'nice/name'])
      expect([model, await ask(model, 'sk-test-a')]).toEqual([model, 429]);
    for (const model of REFUSED) expect([model, await ask(model, 'sk-test-a')]).toEqual([model, 400]);
    expect(await ask('up/other', 'sk-test-a')).toBe(200);
  });

  test('the model that serves a request, under any name', async () => {
    expect(await ask('nice/name', 'sk-test-b')).toBe(200);
    for (const model of ['up/a', 'up//a', 'up/a?x', 'up/a:free'])
      expect([model, await ask(model, 'sk-test-b')]).toEqual([model, 429]);
  });

  test('each configured id by its exact bytes', async () => {
    expect(await ask('up//models/llama', 'sk-test-c')).toBe(200);
    expect(await ask('up//models/llama', 'sk-test-c')).toBe(429);
    expect(await ask('up/models/llama', 'sk-test-c')).toBe(429);
  });
});

test('a setting restricts requests to known models', async () => {
  expect(await ask('up/unheard-of', 'sk-test-narrow', strict)).toBe(404);
  expect(await ask('up/other', 'sk-test-narrow', strict)).toBe(200);
});

test('only models that the key may use are named to it', async () => {
  const answer = await gateway.post(
    '/chat/completions',
    { model: 'nice/nam', messages },
    { authorization: 'Bearer sk-test-narrow' },
  );
  expect(answer.status).toBe(404);
  expect(await answer.text()).not.toContain('nice/name');
});
