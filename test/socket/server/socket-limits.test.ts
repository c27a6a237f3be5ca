// Limits of WebSocket connections: how many there are, how long their messages, and what they hold for a key.
import { expect, test } from 'bun:test';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { sendRaw, type RawAnswer } from '../../support/raw-request.ts';
import { SocketClient, type Message } from '../../support/socket-client.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { undoAfterEach } from '../../support/undo.ts';

const OTHER_KEY = 'sk-test-other';
const keys = [
  { name: 'test', key: TEST_KEY },
  { name: 'other', key: OTHER_KEY },
];
const undo = undoAfterEach();

async function start(server: object): Promise<TestGateway> {
  const gateway = await startGateway({ keys, server });
  undo.push(() => gateway.close());
  return gateway;
}

/** Asks for a connection; the answer where there is none. */
function refused(gateway: TestGateway, key: string): Promise<RawAnswer> {
  return sendRaw(gateway.origin, {
    method: 'GET',
    path: '/v1/responses',
    headers: [
      `authorization: Bearer ${key}`,
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ],
  });
}

test('connections are limited per key and in total, and a closed one makes room', async () => {
  const gateway = await start({ websocket: { max_connections_per_key: 2, max_connections: 3 } });
  const open = (key = TEST_KEY): Promise<SocketClient> =>
    SocketClient.open(gateway.origin, { authorization: `Bearer ${key}` });
  const first = await open();
  await open();
  const own = await refused(gateway, TEST_KEY);
  expect([own.status, own.headers.get('retry-after')]).toEqual([429, '5']);
  expect(own.text).toContain('server.websocket.max_connections_per_key');
  await open(OTHER_KEY);
  const all = await refused(gateway, OTHER_KEY);
  expect([all.status, all.headers.get('retry-after')]).toEqual([503, '5']);
  expect(all.text).toContain('server.websocket.max_connections)');
  await first[Symbol.asyncDispose]();
  await (await open())[Symbol.asyncDispose]();
});

test('a message over the limit closes the connection, in any number of pieces', async () => {
  const gateway = await start({ body_limit_mb: 1 });
  for (const size of [1_050_000, 3_000_000]) {
    const client = await SocketClient.open(gateway.origin);
    client.create({ model: 'sim/echo', input: 'x'.repeat(size) });
    expect((await client.closed).code).toBe(1009);
  }
});

test('messages count for the key while their turns run or wait', async () => {
  const gateway = await start({ body_limit_mb: 1, memory: { bodies_mb: 1 } });
  const client = await SocketClient.open(gateway.origin);
  const long = 'x'.repeat(700_000);
  client.create({ model: 'sim/stall-after-1', input: long, stream_id: 'a', store: false });
  const turn = await client.turn({ model: 'sim/echo', input: long, stream_id: 'b', store: false });
  expect(turn.at(-1)).toMatchObject({ type: 'error', status: 503, error: { code: 'memory_budget' } });
  await client[Symbol.asyncDispose]();
  const next = await SocketClient.open(gateway.origin);
  const small = await next.turn({ model: 'sim/echo', input: 'hello', store: false });
  expect(small.at(-1)).toMatchObject({ type: 'response.completed' });
  await next[Symbol.asyncDispose]();
});

test('messages keep their order, although long ones are processed separately', async () => {
  const gateway = await start({});
  const client = await SocketClient.open(gateway.origin);
  const instructions = 'x'.repeat(200_000);
  const inputs = ['first', 'second', 'third', 'fourth', 'fifth'];
  for (const [index, input] of inputs.entries())
    client.create({ model: 'sim/echo', input, store: false, ...(index % 2 === 0 ? { instructions } : {}) });
  const done = (): Message[] => client.messages.filter(({ type }) => type === 'response.completed');
  await client.until(() => done().length === inputs.length);
  const said = done().map((message) => at(message, 'response', 'output', 0, 'content', 0, 'text'));
  expect(said).toEqual(inputs);
  await client[Symbol.asyncDispose]();
});
