// Levels that decide whether a loss is a 400: the request, its key, the configuration, in this order. And `stream_options`
// without a stream, which a configuration may forgive.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { KeyCommands } from '../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { chatBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { recordOf, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from '../../support/storage/audit-entries.ts';

const ASK = { model: 'one/chat', messages: [{ role: 'user', content: 'Hi' }], store: true };

const KEYS = [
  { name: 'test', key: 'sk-test' },
  { name: 'strict', key: 'sk-test-strict', strict: true },
  { name: 'lenient', key: 'sk-test-lenient', strict: false },
];

async function status(scene: Scene, key: string, header?: string): Promise<number> {
  scene.upstream('up').script(whole(chatBody('Hello')));
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (header !== undefined) headers['x-dragoman-strict'] = header;
  return (await scene.gateway.post('/chat/completions', ASK, headers)).status;
}

describe.each([
  [false, { 'sk-test': 200, 'sk-test-strict': 400, 'sk-test-lenient': 200 }],
  [true, { 'sk-test': 400, 'sk-test-strict': 400, 'sk-test-lenient': 200 }],
] as const)('strict: %p in the configuration', (strict, expected) => {
  test.each(Object.entries(expected))('with %s it is a %d', async (key, wanted) => {
    await using scene = await startScene(['up'], { config: { strict, keys: KEYS } });
    expect(await status(scene, key)).toBe(wanted);
    expect(await status(scene, key, 'true')).toBe(400);
    expect(await status(scene, key, 'false')).toBe(200);
    expect(await status(scene, key)).toBe(wanted);
  });
});

test('a header with another value is refused, and nothing is sent upstream', async () => {
  await using scene = await startScene(['up']);
  for (const word of ['banana', 'TRUE', '1', '']) {
    const headers = { 'x-dragoman-strict': word };
    const response = await scene.gateway.post('/chat/completions', ASK, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'x-dragoman-strict' } });
  }
  const input = { model: 'one/chat', input: 'Hi' };
  const embedding = await scene.gateway.post('/embeddings', input, { 'x-dragoman-strict': 'banana' });
  expect(await embedding.json()).toMatchObject({ error: { param: 'x-dragoman-strict' } });
  expect(scene.upstream('up').requests.length).toBe(0);
});

test('a stored key keeps its strictness', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
  try {
    const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db') });
    const pepper = await storage.secret('pepper');
    const commands = new KeyCommands({
      storage,
      pepper,
      configured: () => ({ keys: [] }),
      now: () => 1,
      entryOf,
    });
    const made = await commands.create({ name: 'strict', strict: true });
    const plain = await commands.create({ name: 'plain' });
    await storage.close();
    await using scene = await startScene(['up'], { dataDir });
    expect(await status(scene, made.key)).toBe(400);
    expect(await status(scene, plain.key)).toBe(200);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

describe('stream_options without a stream', () => {
  const scenes: Partial<Record<'refusing' | 'ignoring', Scene>> = {};
  beforeAll(async () => {
    [scenes.refusing, scenes.ignoring] = await Promise.all([
      startScene(['up'], { faithful: true }),
      startScene(['up'], { faithful: true, config: { compatibility: { ignore_stream_options: true } } }),
    ]);
  });
  afterAll(async () => {
    for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
  });

  const OPTIONS = { stream: false, stream_options: { include_usage: true } };
  const RESPONSE = { input: 'Hi', store: false };
  const ANSWER = [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
    },
  ];
  const asks = [
    ['/chat/completions', { model: 'one/chat', messages: ASK.messages }, chatBody('Hello')],
    ['/chat/completions', { model: 'one/responses', messages: ASK.messages }, responsesBody(ANSWER)],
    ['/responses', { model: 'one/responses', ...RESPONSE }, responsesBody(ANSWER)],
    ['/responses', { model: 'one/chat', ...RESPONSE }, chatBody('Hello')],
  ] as const;

  test.each(asks)('%s, %j: refused, or removed if it is configured so', async (path, ask, answer) => {
    const refused = await scenes.refusing?.gateway.post(path, { ...ask, ...OPTIONS });
    expect(refused?.status).toBe(400);
    expect(at(await refused?.json(), 'error', 'param')).toBe('stream_options');

    const { ignoring } = scenes;
    if (!ignoring) throw new Error('no scene');
    ignoring.upstream('up').script(whole(answer));
    const served = await ignoring.gateway.post(path, { ...ask, ...OPTIONS });
    expect(served.status).toBe(200);
    expect(at(ignoring.upstream('up').requests[0]?.json, 'stream_options')).toBeUndefined();
    expect(at(await recordOf(ignoring.gateway, served), 'report')).toContainEqual({
      path: 'stream_options',
      action: 'dropped',
      reason: 'applies only to streams',
    });
    const explained = await ignoring.gateway.post(
      `/route/explain?protocol=${path === '/responses' ? 'openai-responses' : 'openai-chat'}`,
      { ...ask, ...OPTIONS },
    );
    expect(explained.status).toBe(200);
  });

  test('a relayed response still passes unchanged', async () => {
    const { ignoring } = scenes;
    if (!ignoring) throw new Error('no scene');
    ignoring.upstream('up').script(whole(chatBody('Hello')));
    const served = await ignoring.gateway.post('/chat/completions', { ...ASK, store: undefined, ...OPTIONS });
    expect(served.headers.get('x-dragoman-lane')).toBe('relay');
  });
});
