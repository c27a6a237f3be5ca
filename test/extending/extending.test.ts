// Adding to the gateway takes the places that CONTRIBUTING.md names, and no other: a copy of the sources gets a protocol, a
// provider and a routing factor, and serves requests with them over sockets.
import { expect, test } from 'bun:test';
import { addFile, insert } from './copied-sources.ts';
import { KEYS, startExtended } from './extended-gateway.ts';

const UPSTREAM_KEY = 'sk-test-toyland';

/** Bodies that the upstream of the new protocol got. */
const asked: unknown[] = [];
const gateway = await startExtended({
  upstream: answerToy,
  extend(folder) {
    addFile(folder, 'toy-protocol.ts', 'src/protocols/toy/index.ts');
    insert(folder, 'src/protocols/registry.ts', [
      ["import { openaiChat } from './openai-chat/index.ts';\n", "import { toy } from './toy/index.ts';\n"],
      ['  bedrockConverse,\n', '  toy,\n'],
    ]);
    addFile(folder, 'toy-provider.ts', 'src/catalog/providers/toyland/index.ts');
    insert(folder, 'src/catalog/providers/index.ts', [
      [
        "import { together } from './together/index.ts';\n",
        "import { toyland } from './toyland/index.ts';\n",
      ],
      ['  openai,\n', '  toyland,\n'],
    ]);
    addFile(folder, 'toy-factor.ts', 'src/engine/routing/factors/brevity.ts');
    insert(folder, 'src/canonical/routing-wishes.ts', [
      ["export const PRIMARY_FACTORS = ['cost',", " 'brevity',"],
    ]);
    insert(folder, 'src/engine/routing/factors/index.ts', [
      ["import { cost } from './cost.ts';\n", "import { brevity } from './brevity.ts';\n"],
      ['= { cost,', ' brevity,'],
    ]);
  },
  settings: (origin) => ({
    keys: [{ name: 'test', key: KEYS.test }],
    providers: { toyland: { base_url: origin } },
    models: [
      {
        id: 'house/echo',
        price: { input: 0, output: 0 },
        endpoints: [
          { provider: 'toyland', model: 'long-winded' },
          { provider: 'sim', model: 'echo' },
        ],
      },
    ],
  }),
  environment: { TOYLAND_API_KEY: UPSTREAM_KEY },
});

async function answerToy(request: Request): Promise<Response> {
  const body = (await request.json()) as { model: string; say: string[]; stream: boolean };
  asked.push({ path: new URL(request.url).pathname, key: request.headers.get('x-toy-key'), ...body });
  const said = `${body.model} heard ${body.say.join(' and ')}`;
  if (!body.stream) return Response.json({ id: 'toy-1', said, tokens: 3 });
  const pieces = said.match(/.{1,6}/g) ?? [];
  const frames = pieces.map((piece) => `event: said\ndata: ${JSON.stringify({ said: piece })}\n\n`);
  return new Response(`${frames.join('')}event: end\ndata: {"tokens":3}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
}

async function post(path: string, body: object): Promise<Response> {
  return fetch(`${gateway.origin}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.test}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('a client and an upstream of a new protocol understand each other', async () => {
  asked.length = 0;
  const answer = await post('/toy', { model: 'toyland/parrot', say: ['one', 'two'] });
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 200,
    body: { id: expect.any(String), said: 'parrot heard one and two', tokens: 3 },
  });
  expect(asked).toEqual([
    { path: '/toy', key: UPSTREAM_KEY, model: 'parrot', say: ['one', 'two'], stream: false },
  ]);
});

test('its streams are read and written', async () => {
  const answer = await post('/toy', { model: 'toyland/parrot', say: ['one'], stream: true });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const events = (await answer.text()).split('\n\n').filter(Boolean);
  expect(events.slice(0, 2)).toEqual([
    'event: said\ndata: {"said":"parrot"}',
    'event: said\ndata: {"said":" heard"}',
  ]);
  expect(events.at(-1)).toBe('event: end\ndata: {"tokens":3}');
});

test('clients of the other protocols reach its upstream, and its clients reach theirs', async () => {
  const messages = [{ role: 'user', content: 'hello' }];
  const chat = await post('/chat/completions', { model: 'toyland/parrot', messages });
  expect(await chat.json()).toMatchObject({
    choices: [{ message: { content: 'parrot heard hello' } }],
    usage: { completion_tokens: 3 },
  });
  const simulated = await post('/toy', { model: 'sim/echo', say: ['hello'] });
  expect(await simulated.json()).toMatchObject({ said: expect.stringContaining('hello') });
});

test('it is detected by bodies, headers and name, and has its own form of errors', async () => {
  const explained = await post('/route/explain', { model: 'toyland/parrot', say: ['hello'] });
  expect(explained.status).toBe(200);
  const wrong = await post('/toy', { say: ['hello'] });
  expect({ status: wrong.status, body: await wrong.json() }).toEqual({
    status: 400,
    body: { wrong: 'model: is required' },
  });
  const lost = await fetch(`${gateway.origin}/v1/nothing`, { headers: { 'x-toy': '1' } });
  expect(Object.keys((await lost.json()) as object)).toEqual(['wrong']);
});

test('a new routing factor puts endpoints in order', async () => {
  const provider = { routing: { type: 'priority', primary_factor: 'brevity' } };
  const messages = [{ role: 'user', content: 'hello' }];
  const usual = await post('/chat/completions', { model: 'house/echo', messages });
  expect(usual.headers.get('x-dragoman-provider')).toBe('toyland');
  const short = await post('/chat/completions', { model: 'house/echo', messages, provider });
  expect(short.headers.get('x-dragoman-provider')).toBe('sim');
});
