// Budgets of memory for clients: bodies that are on their way or being answered, per key and together; and how
// long a body may be on its way.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually, freshFolder, runtimePid, startProgram } from '../../support/program.ts';
import { jsonRequest, sendRaw } from '../../support/raw-request.ts';
import { undoAfterEach } from '../../support/undo.ts';

const MEGABYTE = 1_048_576;
const OTHER_KEY = 'sk-test-other';
const keys = [
  { name: 'test', key: TEST_KEY },
  { name: 'other', key: OTHER_KEY },
];
/** Two bodies of 4 MB for a key, three for all. */
const server = { body_limit_mb: 8, memory: { bodies_mb: 12, share_per_key: 0.75 } };

const undo = undoAfterEach();

async function start(
  config: object = {},
  options: Parameters<typeof startGateway>[1] = {},
): Promise<TestGateway> {
  const gateway = await startGateway({ keys, server, ...config }, options);
  undo.push(() => gateway.close());
  return gateway;
}

/** A connection on which a body is on its way. */
class Unfinished {
  readonly #socket: Socket;
  #text = '';
  #isClosed = false;
  #check = (): void => {};

  constructor(gateway: { readonly origin: string }, path: string, headers: readonly string[]) {
    const { hostname, port } = new URL(gateway.origin);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('data', (piece) => {
      this.#text += piece.toString('latin1');
      this.#check();
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.#isClosed = true;
      this.#check();
    });
    this.#socket.write(`${[`POST ${path} HTTP/1.1`, 'host: a', ...headers].join('\r\n')}\r\n\r\n`);
    undo.push(() => this.#socket.destroy());
  }

  write(bytes: string | Uint8Array): this {
    this.#socket.write(bytes);
    return this;
  }

  /** Everything that came, once this has arrived. */
  until(part: string): Promise<string> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.#text.includes(part)) resolve(this.#text);
      };
      this.#check();
    });
  }

  closed(): Promise<string> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.#isClosed) resolve(this.#text);
      };
      this.#check();
    });
  }

  leave(): void {
    this.#socket.destroy();
  }
}

const authorization = (key = TEST_KEY): string => `authorization: Bearer ${key}`;
const announced = (bytes: number): string => `content-length: ${bytes}`;

/** A request whose body is valid and as large as this. */
function chat(bytes: number): string {
  const body = {
    model: 'sim/echo',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'hi' }],
    metadata: {},
  };
  const rest = JSON.stringify(body).length;
  return JSON.stringify(body).replace('"hi"', JSON.stringify('x'.repeat(bytes - rest + 2)));
}

/** Asks again until there is room or none: what another connection does is seen by the gateway a moment later. */
function until(status: number, ask: () => Promise<number>): Promise<void> {
  return eventually(`status ${status}`, async () => (await ask()) === status);
}

const PATH = '/v1/chat/completions';

test('a key can use its share: more is a 503 that names the limit, and released memory is free again', async () => {
  const gateway = await start();
  const large = chat(4 * MEGABYTE);
  const ask = async (key: string, body = large): Promise<number> =>
    (await sendRaw(gateway.origin, jsonRequest(key, body))).status;
  const first = new Unfinished(gateway, PATH, [authorization(), announced(large.length)]).write('{');
  const second = new Unfinished(gateway, PATH, [authorization(), announced(large.length)]).write('{');
  await until(503, () => ask(TEST_KEY));
  const refused = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, large));
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.text).toContain('server.memory.share_per_key');
  expect(refused.text).toContain('memory_budget');
  // In the words of the protocol that overloaded servers have.
  const messages = await sendRaw(gateway.origin, { ...jsonRequest(TEST_KEY, large), path: '/v1/messages' });
  expect([messages.status, JSON.parse(messages.text)]).toMatchObject([
    503,
    { error: { type: 'overloaded_error' } },
  ]);
  // Small ones still fit, and so does the other key's.
  expect(await ask(TEST_KEY, chat(1000))).toBe(200);
  expect(await ask(OTHER_KEY)).toBe(200);

  first.leave();
  second.leave();
  await until(200, () => ask(TEST_KEY));
});

test('all keys together may hold the budget', async () => {
  const gateway = await start();
  const large = chat(4 * MEGABYTE);
  for (const key of [TEST_KEY, TEST_KEY, OTHER_KEY])
    new Unfinished(gateway, PATH, [authorization(key), announced(large.length)]).write('{');
  await until(503, async () => (await sendRaw(gateway.origin, jsonRequest(OTHER_KEY, large))).status);
  const refused = await sendRaw(gateway.origin, jsonRequest(OTHER_KEY, large));
  expect(refused.text).toContain('server.memory.bodies_mb');
});

test('a body without a length counts as it arrives', async () => {
  const gateway = await start();
  const chunk = Buffer.alloc(MEGABYTE, ' ');
  const headers = [authorization(), 'transfer-encoding: chunked'];
  const pieces = Array.from({ length: 6 }, () => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']).flat();
  await until(503, async () => {
    // A new one each time: now and then the runtime hands over nothing of a body that arrives with its head.
    const unfinished = new Unfinished(gateway, PATH, headers);
    for (const piece of pieces) unfinished.write(piece);
    const answer = await sendRaw(gateway.origin, { headers, body: [...pieces, '0\r\n\r\n'] });
    unfinished.leave();
    return answer.text.includes('memory_budget') ? answer.status : 0;
  });
  const whole = jsonRequest(TEST_KEY, chat(8 * MEGABYTE));
  await until(200, async () => (await sendRaw(gateway.origin, whole)).status);
});

test('every way to end a request releases its memory', async () => {
  const gateway = await start({ server: { body_limit_mb: 1, memory: { bodies_mb: 1 } } });
  const large = MEGABYTE;
  const whole = jsonRequest(TEST_KEY, chat(large));
  const bodies: readonly (readonly [path: string, body: string])[] = [
    [PATH, chat(large).replace('sim/echo', 'sim/none')],
    [PATH, chat(large).replace('{', '[')],
    [PATH, chat(large - 14).replace('"max_tokens":1', '"max_tokens":1,"stream":true')],
    [PATH, chat(large + 1)],
    ['/v1/embeddings', chat(large)],
    ['/v1/responses/input_tokens', chat(large)],
    ['/v1/route/explain', chat(large)],
    ['/v1/conversations', chat(large)],
    ['/v1beta/models/sim/echo:generateContent', chat(large)],
  ];
  // One after the other: each needs all that there is.
  for (const [path, body] of bodies) {
    const answer = await sendRaw(gateway.origin, { ...jsonRequest(TEST_KEY, body), path });
    expect([path, answer.text.includes('memory_budget')]).toEqual([path, false]);
    await until(200, async () => (await sendRaw(gateway.origin, whole)).status);
  }
});

test('a body that drips ends in a 408, large or small, and its connection is closed', async () => {
  const clock = new ManualClock();
  const gateway = await start({ server: { ...server, body_grace_ms: 5000 } }, { clock });
  const bodies = [
    new Unfinished(gateway, PATH, [authorization(), announced(100)]).write('{'),
    new Unfinished(gateway, PATH, [authorization(), announced(MEGABYTE)]).write('{'),
    new Unfinished(gateway, '/v1/messages', [authorization(), 'transfer-encoding: chunked']).write(
      '1\r\n{\r\n',
    ),
    new Unfinished(gateway, '/v1/files', [
      authorization(),
      'content-type: multipart/form-data; boundary=x',
      announced(MEGABYTE),
    ]).write('--x\r\n'),
  ];
  // Answered behind them: by then their heads were read.
  expect((await sendRaw(gateway.origin, jsonRequest(TEST_KEY, chat(300)))).status).toBe(200);
  clock.advance(5000);
  expect((await gateway.get('/models')).status).toBe(200);
  clock.advance(2000);
  for (const body of bodies) {
    const answer = await body.closed();
    expect(answer).toStartWith('HTTP/1.1 408');
    expect(answer).toContain('server.body_grace_ms');
  }
});

test('a slow body that keeps arriving is read', async () => {
  const clock = new ManualClock();
  const gateway = await start({ server: { ...server, body_grace_ms: 5000 } }, { clock });
  const text = chat(400_000);
  const body = new Unfinished(gateway, PATH, [authorization(), announced(text.length)]);
  body.write(text.slice(0, 390_000));
  // Behind it: by then the pieces were read.
  expect((await sendRaw(gateway.origin, jsonRequest(TEST_KEY, chat(300)))).status).toBe(200);
  clock.advance(40_000);
  body.write(text.slice(390_000));
  expect(await body.until('"usage"')).toStartWith('HTTP/1.1 200');
});

test.if(process.platform === 'linux')('the body of a refused request is not kept', async () => {
  const { folder, remove } = freshFolder();
  undo.push(remove);
  const program = await startProgram(['serve'], {
    folder,
    environment: { DRAGOMAN_PORT: '0', DRAGOMAN_KEY: TEST_KEY },
  });
  undo.push(() => program.stop());
  const held = (): number =>
    Number(readFileSync(`/proc/${runtimePid(program.pid)}/statm`, 'latin1').split(' ')[1]) * 4096;
  const piece = Buffer.alloc(MEGABYTE, 'x');
  const before = held();
  for (let count = 0; count < 10; count++) {
    const body = new Unfinished(program, PATH, [authorization('sk-wrong'), announced(30 * MEGABYTE)]);
    for (let sent = 0; sent < 20; sent++) body.write(piece);
    expect(await body.until('invalid_api_key')).toStartWith('HTTP/1.1 401');
  }
  expect(held() - before).toBeLessThan(64 * MEGABYTE);
});
