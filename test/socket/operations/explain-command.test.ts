// `dragoman explain` against a server that answers as a gateway would: what it sends, what it prints, and the
// sentence for everything that goes wrong.
import { afterAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freshFolder, runProgram, type Finished } from '../../support/program.ts';

const KEY = 'sk-test';
const TABLE = {
  requested_model: 'm/one',
  strategy: { type: 'priority', primary_factor: null, fallback: true, stream_safety: 'error', hedge: false },
  models: null,
  candidates: [
    {
      position: 1,
      endpoint: 'groq',
      provider: 'groq',
      model: 'm/one',
      score: null,
      reason: 'the operator’s order',
      price: { input: 0.1, output: 0.4 },
      first_token_ms: null,
      tokens_per_second: null,
      success_rate: null,
      in_flight: 0,
      state: 'closed',
      cache_hit_rate: null,
      holds_cache: false,
    },
  ],
  excluded: [{ model: 'm/one', endpoint: 'openai', reason: 'ignored by the key' }],
};

interface Seen {
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
}

let answer: { status: number; body: string };
let seen: Seen[];
const { folder, remove } = freshFolder();

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    seen.push({
      path: `${request.method} ${request.url}`,
      key: request.headers.authorization ?? '',
      body: JSON.parse(body),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.close();
  remove();
});

async function explain(
  args: readonly string[],
  given: { status?: number; body?: unknown; environment?: Record<string, string> } = {},
): Promise<Finished> {
  const { status = 200, body = TABLE } = given;
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
  seen = [];
  return runProgram(['explain', ...args], {
    folder,
    environment: given.environment ?? { DRAGOMAN_KEY: KEY },
  });
}

test('a model and a prompt become a chat request, and its table is printed without colours into a pipe', async () => {
  const result = await explain(['m/one', 'Grüße', 'you', '--url', origin]);
  expect(seen).toEqual([
    {
      path: 'POST /v1/route/explain',
      key: 'Bearer sk-test',
      body: { model: 'm/one', messages: [{ role: 'user', content: 'Grüße you' }] },
    },
  ]);
  expect(result).toEqual({
    code: 0,
    err: '',
    out: `m/one: priority, fallback on, stream safety error, hedge off

#  ENDPOINT  MODEL  STATE  $/M IN+OUT  RUNNING  WHY
1  groq      m/one  ok     0.1+0.4     0        the operator’s order

Not tried:
  openai  m/one  ignored by the key
`,
  });
});

test('a request is read from a file, in any protocol; the command line may name another model and key', async () => {
  const request = { model: 'm/one', max_tokens: 5, messages: [], provider: { only: ['groq'] } };
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  const file = ['--body', 'request.json', '--protocol', 'anthropic-messages'];
  const result = await explain(['m/two', ...file, '--json', '--url', `${origin}/v1/`, '--key', 'sk-other']);
  expect(seen).toEqual([
    {
      path: 'POST /v1/route/explain?protocol=anthropic-messages',
      key: 'Bearer sk-other',
      body: { ...request, model: 'm/two' },
    },
  ]);
  expect(JSON.parse(result.out)).toEqual(TABLE);
  await explain(['--body', 'request.json', '--port', new URL(origin).port]);
  expect(seen[0]?.body).toEqual(request);
});

const refusal = (message: string, code: string | null): object => ({
  error: { message, type: 'x', param: null, code },
});

test.each([
  [
    401,
    refusal('The API key sk-… is unknown.', 'invalid_api_key'),
    /^dragoman explain: The API key sk-… is unknown\. Set a key of the gateway at http:\S+ with --key or DRAGOMAN_KEY\.\n$/,
  ],
  [
    404,
    refusal('The model "m/one" does not exist.', 'model_not_found'),
    /^dragoman explain: The model "m\/one" does not exist\.\n$/,
  ],
  [404, refusal('POST /v1/route/explain not found.', null), /is another program or an older Dragoman/],
  [404, 'Not Found', /has no \/v1\/route\/explain \(status 404\): .* with --url\.\n$/],
  [200, '<html></html>', /has no \/v1\/route\/explain \(status 200\)/],
  [200, { id: 'chatcmpl-1' }, /has no \/v1\/route\/explain/],
  [
    400,
    refusal('provider.only: no endpoint left', null),
    /^dragoman explain: provider\.only: no endpoint left\n$/,
  ],
])('an answer of %i with %j is one sentence', async (status, body, message) => {
  const result = await explain(['m/one', '--url', origin], { status, body });
  expect(result).toMatchObject({ code: 1, out: '' });
  expect(result.err).toMatch(message);
});

test('an unreachable gateway is reported in one sentence that says how to start one', async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const result = await explain(['m/one'], {
    environment: { DRAGOMAN_KEY: KEY, DRAGOMAN_PORT: String(port) },
  });
  expect(result).toMatchObject({ code: 1, out: '' });
  expect(result.err).toMatch(
    new RegExp(
      `^dragoman explain: cannot reach a gateway at http://127\\.0\\.0\\.1:${port}: .* Start one with \`(?:npx --no )?dragoman serve\`, or give its address with --url\\.\\n$`,
    ),
  );
});

test.each([
  [['m/one'], {}, /requires an API key: set --key or DRAGOMAN_KEY/],
  [[], { DRAGOMAN_KEY: KEY }, /requires a model/],
  [
    ['m/one', '--url', 'gateway:4000'],
    { DRAGOMAN_KEY: KEY },
    /"gateway:4000" is not an http or https address/,
  ],
  [['--body', 'absent.json'], { DRAGOMAN_KEY: KEY }, /--body: cannot read a request from absent\.json/],
  [['m/one', '--key', 'a\nb'], {}, /contains invalid characters/],
])('explain %j is refused before anything is sent', async (args, environment, message) => {
  const result = await explain(args, { environment });
  expect(result).toMatchObject({ code: 1, out: '' });
  expect(result.err).toMatch(message);
  expect(seen).toEqual([]);
});
