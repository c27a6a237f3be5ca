// The WebSocket mode of `/responses` over real sockets: the events of the stream as messages, lanes, what a connection
// remembers, its limits, and how it ends.
import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { startGateway } from '../../../support/harness.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { rejection } from '../../../support/rejection.ts';
import { startResponses } from '../../../support/responses-scene.ts';
import { asFrames, idOf, SocketClient, textOf } from '../../../support/socket-client.ts';
import { checkResponseStream } from '../../../support/rules/responses-stream-rules.ts';
import {
  chatStream,
  CHAT_ENDING,
  CHAT_OPENING,
  chatChunk,
  chatError,
  opened,
  responsesStream,
  stream,
} from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../../support/upstreams/json-path.ts';

const CHAT = 'one/chat';

/** Messages of a request to the upstream, as role and text. */
function reported(request: { readonly json: unknown } | undefined): string[] {
  return list(request?.json, 'messages').map((message) => {
    const content = at(message, 'content');
    const text = Array.isArray(content) ? content.map((part) => at(part, 'text')).join('') : String(content);
    return `${String(at(message, 'role'))}: ${text}`;
  });
}

describe('the handshake', () => {
  test('is refused like any request without a valid key', async () => {
    await using scene = await startScene(['one']);
    const { origin } = scene.gateway;
    const refusal = await rejection(SocketClient.open(origin, { authorization: 'Bearer sk-wrong' }));
    expect(refusal).toMatchObject({ message: 'the handshake was refused' });
    const head = await rawHandshake(origin, 'authorization: Bearer sk-wrong\r\n');
    expect(head).toContain('HTTP/1.1 401');
    expect(head).toContain('invalid_api_key');
  });

  test('works below both bases and names the request', async () => {
    await using scene = await startScene(['one']);
    const { origin } = scene.gateway;
    const head = await rawHandshake(origin, 'authorization: Bearer sk-test\r\n');
    expect(head).toContain('HTTP/1.1 101');
    expect(head.toLowerCase()).toContain('x-request-id: ');
    await using client = await SocketClient.open(origin, {}, '/api/v1/responses');
    expect(client.messages).toEqual([]);
  });

  test('is required, with the status that makes clients fall back', async () => {
    await using scene = await startScene(['one']);
    const response = await scene.gateway.get('/responses');
    expect(response.status).toBe(426);
    expect(response.headers.get('upgrade')).toBe('websocket');
    expect(at(await response.json(), 'error', 'code')).toBe('upgrade_required');
    const broken = await rawHandshake(scene.gateway.origin, 'authorization: Bearer sk-test\r\n', '');
    expect(broken).toContain('HTTP/1.1 400');
    expect(broken).toContain('handshake');
  });
});

describe('a turn', () => {
  test('is the event stream as messages, in its order', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').always(stream(chatStream('Hello', ' there')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const messages = await client.turn({ model: CHAT, input: 'Hi', store: false });
    expect(checkResponseStream(asFrames(messages))).toEqual([]);
    expect(textOf(messages)).toBe('Hello there');
    expect(messages.every((message) => !('stream_id' in message))).toBe(true);
    expect((await scene.gateway.get(`/generation?id=${idOf(messages)}`)).status).toBe(200);
  });

  test('passes a relayed stream unchanged', async () => {
    await using gateway = await ownGateway();
    await using client = await SocketClient.open(gateway.origin);
    const messages = await client.turn({ model: 'sim/responses', input: 'What is 6 x 7?', store: false });
    expect(checkResponseStream(asFrames(messages))).toEqual([]);
    expect(textOf(messages)).toContain('42');
  });

  test.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['CR', (text: string) => text.replaceAll('\n', '\r')],
    ['several lines of data', (text: string) => text.replaceAll('data: {', 'data: {\ndata: ')],
    ['data before the name', (text: string) => text.replaceAll(/(event: .*\n)(data: .*\n)/g, '$2$1')],
  ])('has one event in each message, also if the upstream writes %s', async (_, written) => {
    await using scene = await startResponses();
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
    const content = [{ type: 'output_text', text: 'Hello 世界', annotations: [], logprobs: [] }];
    scene.upstream.script(stream(written(responsesStream([{ ...item, content }]))));
    await using client = await SocketClient.open(scene.gateway.origin);
    const messages = await client.turn({ model: 'to/relay', input: 'Hi', store: false });
    expect(checkResponseStream(asFrames(messages))).toEqual([]);
    expect(textOf(messages)).toBe('Hello 世界');
  });

  test('keeps characters of every script intact', async () => {
    await using gateway = await ownGateway();
    await using client = await SocketClient.open(gateway.origin);
    for (const model of ['sim/echo', 'sim/responses'])
      expect(textOf(await client.turn({ model, input: 'Grüße, 世界 🌍', store: false }))).toContain(
        'Grüße, 世界 🌍',
      );
  });

  test('continues a stored response, and is stored itself', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').always(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const first = await client.turn({ model: CHAT, input: 'My name is Ada.' });
    await client.turn({ model: CHAT, input: 'Who am I?', previous_response_id: idOf(first) });
    expect(reported(scene.upstream('one').requests.at(-1))).toEqual([
      'user: My name is Ada.',
      'assistant: Noted.',
      'user: Who am I?',
    ]);
    expect((await scene.gateway.get(`/responses/${idOf(first)}`)).status).toBe(200);
  });

  test('runs after the one before it on the same lane', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.script(opened(CHAT_OPENING + chatChunk({ content: 'first' })), stream(chatStream('second')));
    await using client = await SocketClient.open(scene.gateway.origin);
    client.create({ model: CHAT, input: '1', store: false });
    client.create({ model: CHAT, input: '2', store: false });
    const exchange = await upstream.arrived(1);
    await client.until(() => client.messages.some((message) => message['delta'] === 'first'));
    expect(upstream.requests.length).toBe(1);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    await client.until(
      () => client.messages.filter(({ type }) => type === 'response.completed').length === 2,
    );
    const end = client.messages.findIndex(({ type }) => type === 'response.completed');
    expect(checkResponseStream(asFrames(client.messages.slice(0, end + 1)))).toEqual([]);
    expect(checkResponseStream(asFrames(client.messages.slice(end + 1)))).toEqual([]);
    expect(textOf(client.messages.slice(end + 1))).toBe('second');
  });

  test('has no response of another turn, with any idempotency key of the handshake', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').script(stream(chatStream('one')), stream(chatStream('two')));
    await using client = await SocketClient.open(scene.gateway.origin, { 'idempotency-key': 'same' });
    expect(textOf(await client.turn({ model: CHAT, input: 'Hi', store: false }))).toBe('one');
    expect(textOf(await client.turn({ model: CHAT, input: 'Hi', store: false }))).toBe('two');
  });

  test('that fails ends with its own events, or with an error before any', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    await using client = await SocketClient.open(scene.gateway.origin);
    upstream.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })));
    client.create({ model: CHAT, input: 'Hi', store: false });
    const exchange = await upstream.arrived(1);
    await client.until(() => client.messages.some(({ delta }) => delta === 'Hel'));
    exchange.cut();
    await client.until(() => client.messages.at(-1)?.['type'] === 'response.failed');
    expect(checkResponseStream(asFrames(client.messages))).toEqual([]);

    upstream.always(chatError(429, { 'retry-after': '0' }, 'rate_limit_exceeded'));
    const refused = await client.turn({ model: CHAT, input: 'Hi', store: false });
    expect(refused).toMatchObject([{ type: 'error', error: { message: expect.any(String) } }]);
    expect(Number(refused[0]?.['status'])).toBeGreaterThanOrEqual(400);

    const [unknown] = await client.turn({ model: 'no/such', input: 'Hi' });
    expect(unknown).toMatchObject({ type: 'error', status: 404, error: { code: 'model_not_found' } });
  });

  test('is cancelled when the client disconnects', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(opened(CHAT_OPENING + chatChunk({ content: 'begun' })));
    const client = await SocketClient.open(scene.gateway.origin);
    client.create({ model: CHAT, input: '1', store: false, stream_id: 'a' });
    client.create({ model: CHAT, input: '2', store: false, stream_id: 'b' });
    await client.until(() => client.messages.filter(({ delta }) => delta === 'begun').length === 2);
    client.close();
    await Promise.all(upstream.exchanges.map((exchange) => exchange.closed));
    expect(upstream.exchanges.length).toBe(2);
  });
});

describe('a message that asks for nothing legal', () => {
  test('is an error event, and the connection stays open', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').always(stream(chatStream('still here')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const refused = async (message: unknown): Promise<unknown> => {
      const before = client.messages.length;
      client.send(message);
      await client.until(() => client.messages.length > before);
      return client.messages.at(-1);
    };
    const error = { type: 'error', status: 400, error: { type: 'invalid_request_error' } };
    expect(await refused('{"type":')).toMatchObject(error);
    expect(await refused('[1]')).toMatchObject(error);
    expect(await refused(new Uint8Array([1, 2]))).toMatchObject(error);
    expect(await refused({ type: 'response.steer' })).toMatchObject({ ...error, error: { param: 'type' } });
    expect(await refused({ model: CHAT })).toMatchObject({ ...error, error: { param: 'type' } });
    const onLane = await refused({ type: 'response.steer', stream_id: 'a' });
    expect(onLane).toMatchObject({ ...error, error: { param: 'type' }, stream_id: 'a' });
    expect(await refused({ type: 'response.create' })).toMatchObject({ ...error, error: { param: 'model' } });
    for (const stream_id of ['', 'a b', 7, 'x'.repeat(257)]) {
      const answer = await refused({ type: 'response.create', model: CHAT, input: 'Hi', stream_id });
      expect(answer).toMatchObject({ ...error, error: { code: 'invalid_stream_id', param: 'stream_id' } });
      expect(answer).not.toHaveProperty('stream_id');
    }
    client.send({ type: 'response.processed', response_id: 'resp_1' });
    expect(textOf(await client.turn({ model: CHAT, input: 'Hi', store: false }))).toBe('still here');
  });

  test('closes the connection only when it is too long', async () => {
    await using gateway = await ownGateway({ server: { body_limit_mb: 1 } });
    const client = await SocketClient.open(gateway.origin);
    client.create({ model: 'sim/echo', input: 'x'.repeat(1_100_000) });
    expect(await client.closed).toMatchObject({
      code: 1009,
      reason: expect.stringContaining('body_limit_mb'),
    });
    expect(client.messages).toEqual([]);
  });
});

describe('lanes', () => {
  test('run concurrently, and every message names its lane', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.script(opened(CHAT_OPENING + chatChunk({ content: 'slow' })), stream(chatStream('fast')));
    await using client = await SocketClient.open(scene.gateway.origin);
    client.create({ model: CHAT, input: '1', store: false, stream_id: 'slow-1' });
    const exchange = await upstream.arrived(1);
    const fast = await client.turn({ model: CHAT, input: '2', store: false, stream_id: 'fast.2' });
    expect(textOf(fast)).toBe('fast');
    expect(checkResponseStream(asFrames(fast))).toEqual([]);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    const slow = await client.ended('slow-1');
    expect(textOf(slow)).toBe('slow');
    expect(checkResponseStream(asFrames(slow))).toEqual([]);
    expect(slow.length + fast.length).toBe(client.messages.length);
    const [refused] = await client.turn({ model: 'no/such', input: 'Hi', stream_id: 'slow-1' });
    expect(refused).toMatchObject({ type: 'error', stream_id: 'slow-1' });
  });

  test('have at most 32 names, besides the one without a name', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').always(stream(chatStream('ok')));
    await using client = await SocketClient.open(scene.gateway.origin);
    for (let n = 1; n <= 32; n++)
      await client.turn({ model: CHAT, input: 'Hi', store: false, stream_id: `a${n}` });
    const [refused] = await client.turn({ model: CHAT, input: 'Hi', stream_id: 'a33' });
    expect(refused).toMatchObject({
      status: 400,
      stream_id: 'a33',
      error: { code: 'websocket_stream_limit_reached', param: 'stream_id' },
    });
    expect(textOf(await client.turn({ model: CHAT, input: 'Hi', store: false, stream_id: 'a1' }))).toBe('ok');
    expect(textOf(await client.turn({ model: CHAT, input: 'Hi', store: false }))).toBe('ok');
  });

  test('of which 16 run at once: the next begins when one has ended', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(opened(CHAT_OPENING + chatChunk({ content: 'x' })));
    await using client = await SocketClient.open(scene.gateway.origin);
    for (let n = 1; n <= 17; n++)
      client.create({ model: CHAT, input: 'Hi', store: false, stream_id: `a${n}` });
    await client.until(() => client.messages.filter(({ delta }) => delta === 'x').length === 16);
    expect(upstream.requests.length).toBe(16);
    upstream.exchanges[0]?.chunk(CHAT_ENDING);
    upstream.exchanges[0]?.endStream();
    await upstream.arrived(17);
    await client.until(() => client.messages.some((message) => message['stream_id'] === 'a17'));
    for (let n = 0; n < 64; n++) client.create({ model: CHAT, input: 'Hi', stream_id: 'a17' });
    client.create({ model: CHAT, input: 'Hi', stream_id: 'a17' });
    await client.until(() => client.messages.some(({ type }) => type === 'error'));
    expect(client.messages.filter(({ type }) => type === 'error')).toMatchObject([
      { status: 429, stream_id: 'a17', error: { code: 'websocket_queue_full' } },
    ]);
  });
});

describe('the stored response of a connection', () => {
  test('the latest turn of a lane, though it is not stored, and everything before it', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const body = { model: CHAT, store: false, instructions: 'Be kind.' };
    const first = await client.turn({ ...body, input: 'I am Ada.' });
    const second = await client.turn({ ...body, input: 'I like tea.', previous_response_id: idOf(first) });
    expect(at(second[0] ?? null, 'response', 'previous_response_id')).toBe(idOf(first));
    const third = await client.turn({ ...body, input: 'Who am I?', previous_response_id: idOf(second) });
    expect(reported(upstream.requests.at(-1))).toEqual([
      'system: Be kind.',
      'user: I am Ada.',
      'assistant: Noted.',
      'user: I like tea.',
      'assistant: Noted.',
      'user: Who am I?',
    ]);
    expect((await scene.gateway.get(`/responses/${idOf(third)}`)).status).toBe(404);
    // The first is no longer the latest.
    const [lost] = await client.turn({ ...body, input: 'And?', previous_response_id: idOf(first) });
    expect(lost).toMatchObject({
      type: 'error',
      status: 400,
      error: {
        type: 'invalid_request_error',
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      },
    });
    await using other = await SocketClient.open(scene.gateway.origin);
    const [foreign] = await other.turn({ ...body, input: 'And?', previous_response_id: idOf(third) });
    expect(foreign).toMatchObject({ status: 400, error: { code: 'previous_response_not_found' } });
  });

  test('another lane may branch off, and the first one continues', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const body = { model: CHAT, store: false };
    const first = await client.turn({ ...body, input: 'Plan.', stream_id: 'main' });
    const previous_response_id = idOf(first);
    // A fork that fails leaves its parent alone.
    await client.turn({ ...body, input: 'x', temperature: 9, stream_id: 'fork', previous_response_id });
    await client.turn({ ...body, input: 'Gaps?', stream_id: 'fork', previous_response_id });
    expect(reported(upstream.requests.at(-1))).toEqual(['user: Plan.', 'assistant: Noted.', 'user: Gaps?']);
    const second = await client.turn({ ...body, input: 'Go.', stream_id: 'main', previous_response_id });
    expect(reported(upstream.requests.at(-1))).toEqual(['user: Plan.', 'assistant: Noted.', 'user: Go.']);
    // A turn of the lane itself that is refused begins it anew.
    const refused = { ...body, stream_id: 'main', previous_response_id: idOf(second) };
    await client.turn({ ...refused, input: 'x', temperature: 9 });
    const [lost] = await client.turn({ ...refused, input: 'And?' });
    expect(lost).toMatchObject({ stream_id: 'main', error: { code: 'previous_response_not_found' } });
  });

  test('is stored together with a turn that is', async () => {
    await using scene = await startScene(['one']);
    scene.upstream('one').always(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const first = await client.turn({ model: CHAT, input: 'I am Ada.', store: false });
    const second = await client.turn({ model: CHAT, input: 'Tea.', previous_response_id: idOf(first) });
    const answer = await scene.gateway.post('/responses', {
      model: CHAT,
      input: 'Who am I?',
      stream: true,
      previous_response_id: idOf(second),
    });
    await answer.text();
    expect(reported(scene.upstream('one').requests.at(-1))).toEqual([
      'user: I am Ada.',
      'assistant: Noted.',
      'user: Tea.',
      'assistant: Noted.',
      'user: Who am I?',
    ]);
  });

  test('does not exceed its limit: the oldest turn is removed', async () => {
    await using scene = await startScene(['one'], { config: { server: { body_limit_mb: 1 } } });
    scene.upstream('one').always(stream(chatStream('ok')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const body = { model: CHAT, store: false };
    const first = await client.turn({ ...body, input: 'a'.repeat(600_000), stream_id: 'a' });
    const second = await client.turn({ ...body, input: 'b'.repeat(600_000), stream_id: 'b' });
    const [lost] = await client.turn({
      ...body,
      input: 'x',
      stream_id: 'a',
      previous_response_id: idOf(first),
    });
    expect(lost).toMatchObject({ error: { code: 'previous_response_not_found' } });
    const kept = await client.turn({
      ...body,
      input: 'x',
      stream_id: 'b',
      previous_response_id: idOf(second),
    });
    expect(textOf(kept)).toBe('ok');
  });

  test('a turn that generates nothing: an id to go on from, without asking a model', async () => {
    await using scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(stream(chatStream('Noted.')));
    await using client = await SocketClient.open(scene.gateway.origin);
    const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object' }, strict: false }];
    const body = { model: CHAT, store: false, instructions: 'Be kind.', tools };
    const empty = await client.turn({ ...body, input: [], generate: false });
    expect(checkResponseStream(asFrames(empty))).toEqual([]);
    expect(at(empty.at(-1) ?? null, 'response', 'output')).toEqual([]);
    const warm = await client.turn({
      ...body,
      input: 'I am Ada.',
      generate: false,
      previous_response_id: idOf(empty),
    });
    expect(upstream.requests.length).toBe(0);
    await client.turn({ ...body, input: 'Who am I?', previous_response_id: idOf(warm) });
    expect(reported(upstream.requests.at(-1))).toEqual([
      'system: Be kind.',
      'user: I am Ada.',
      'user: Who am I?',
    ]);
    const [lost] = await client.turn({
      ...body,
      input: 'x',
      generate: false,
      previous_response_id: 'resp_none',
    });
    expect(lost).toMatchObject({ error: { code: 'previous_response_not_found' } });
  });
});

describe('the end of a connection', () => {
  test('happens after an hour: new turns are refused with the reason', async () => {
    const clock = new ManualClock();
    await using scene = await startScene(['one'], { clock });
    scene.upstream('one').always(stream(chatStream('ok')));
    const client = await SocketClient.open(scene.gateway.origin);
    await client.turn({ model: CHAT, input: 'Hi', store: false });
    clock.advance(3_600_000);
    const [refused] = await client.turn({ model: CHAT, input: 'Hi', stream_id: 'late' });
    expect(refused).toMatchObject({ status: 400, error: { code: 'websocket_connection_limit_reached' } });
    expect(await client.closed).toMatchObject({ code: 1000 });
  });

  test('comes when the process stops: running turns are completed, idle connections end at once', async () => {
    const scene = await startScene(['one']);
    const upstream = scene.upstream('one');
    upstream.always(opened(CHAT_OPENING + chatChunk({ content: 'last' })));
    const idle = await SocketClient.open(scene.gateway.origin);
    const busy = await SocketClient.open(scene.gateway.origin);
    busy.create({ model: CHAT, input: '1', store: false });
    busy.create({ model: CHAT, input: '2', store: false });
    const exchange = await upstream.arrived(1);
    await busy.until(() => busy.messages.some(({ delta }) => delta === 'last'));
    const stopped = scene.gateway.close();
    expect(await idle.closed).toMatchObject({ code: 1001 });
    await busy.until(() => busy.messages.some(({ type }) => type === 'error'));
    busy.create({ model: CHAT, input: '3' });
    await busy.until(() => busy.messages.filter(({ type }) => type === 'error').length === 2);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    expect(await busy.closed).toMatchObject({ code: 1001 });
    const turn = busy.messages.filter(({ type }) => type !== 'error');
    expect(checkResponseStream(asFrames(turn))).toEqual([]);
    await stopped;
    await upstream.stop();
  });
});

test("OpenAI's SDK holds a conversation over it", async () => {
  await using gateway = await ownGateway();
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: gateway.baseURL });
  const socket = new ResponsesWS(client);
  try {
    let previous: string | undefined;
    const texts: string[] = [];
    const events = socket.stream();
    for (const input of ['6 x 7', '12 / 5']) {
      socket.send({
        type: 'response.create',
        model: 'sim/responses',
        store: false,
        stream_id: 'main',
        input,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      });
      for (;;) {
        const { value: event } = await events.next();
        if (event?.type === 'error') throw event.error;
        if (event?.type !== 'message' || event.message.type !== 'response.completed') continue;
        previous = event.message.response.id;
        expect(event.message.stream_id).toBe('main');
        texts.push(JSON.stringify(event.message.response.output));
        break;
      }
    }
    expect(texts[0]).toContain('42');
    expect(texts[1]).toContain('2.4');
  } finally {
    socket.close();
  }
});

/** A gateway with the simulated provider only. */
async function ownGateway(
  config: Readonly<Record<string, unknown>> = {},
): Promise<Awaited<ReturnType<typeof startGateway>> & AsyncDisposable> {
  const gateway = await startGateway(config);
  return { ...gateway, [Symbol.asyncDispose]: () => gateway.close() };
}

/** The head of the answer to a handshake, and its body if it comes at once. */
function rawHandshake(origin: string, headers: string, key = 'dGhlIHNhbXBsZSBub25jZQ=='): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('data', (bytes: Buffer) => {
      resolve(bytes.toString('latin1'));
      socket.destroy();
    });
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: ${hostname}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
        `sec-websocket-version: 13\r\n${key ? `sec-websocket-key: ${key}\r\n` : ''}${headers}\r\n`,
    );
  });
}
