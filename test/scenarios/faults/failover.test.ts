// Endpoints in order: what goes wrong before the first content is invisible to the client, and told in the records.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import {
  CHAT_OPENING,
  chatBody,
  chatChunk,
  chatError,
  chatStream,
  cutAfter,
  cutHalfway,
  frame,
  noAnswer,
  opened,
  silence,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import {
  attemptsOf,
  frames,
  providerAt,
  recordOf,
  startScene,
  streamedText,
  StreamReading,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { DEAD_ORIGIN, type Answer } from '../../support/upstreams/scripted-upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const clock = new ArmedClock();
const endpoint = (provider: string): object => ({
  provider,
  model: 'm',
  protocol: 'openai-chat',
  price: { input: 1, output: 4 },
});
const scene = await startScene(['first', 'second'], {
  clock,
  config: {
    providers: { dead: providerAt(DEAD_ORIGIN) },
    models: [
      { id: 'dead/then-second', endpoints: [endpoint('dead'), endpoint('second')] },
      { id: 'dead/only', endpoints: [endpoint('dead')] },
    ],
  },
});
// Pauses that endpoints asked for are over by the next test.
afterEach(() => clock.advance(600_000));
afterAll(() => scene[Symbol.asyncDispose]());

const good = (stream: boolean): Answer => (stream ? sse(chatStream('Hel', 'lo')) : whole(chatBody('Hello')));
const ask = (stream: boolean, model = 'all/chat', headers: Record<string, string> = {}): Promise<Response> =>
  scene.gateway.post('/chat/completions', { model, messages: MESSAGES, stream }, headers);

/** The client's view of a success; it must not show what happened before. */
async function expectHello(response: Response, stream: boolean): Promise<void> {
  expect(response.status).toBe(200);
  const text = await response.text();
  if (stream) {
    expect(streamedText(text)).toBe('Hello');
    expect(frames(text).at(-1)).toBe('[DONE]');
    expect(text).not.toContain('error');
    expect(
      frames(text).filter((chunk) => at(chunk, 'choices', 0, 'delta', 'role') === 'assistant'),
    ).toHaveLength(1);
  } else {
    expect(at(JSON.parse(text), 'choices', 0, 'message', 'content')).toBe('Hello');
  }
}

describe.each([false, true])('streamed: %p', (stream) => {
  const failures: Record<string, { answer: Answer; status: number | null; once?: true }> = {
    'connection closed without an answer': { answer: noAnswer, status: null },
    'status 401': { answer: chatError(401), status: 401, once: true },
    'status 402': { answer: chatError(402), status: 402, once: true },
    'status 403': { answer: chatError(403), status: 403, once: true },
    'status 404': { answer: chatError(404), status: 404, once: true },
    'status 408': { answer: chatError(408), status: 408, once: true },
    'status 500': { answer: chatError(500), status: 500 },
    'status 503': { answer: chatError(503), status: 503 },
    'status 529': { answer: chatError(529), status: 529 },
    'an HTML page with status 200': {
      answer: whole('<html>Welcome</html>', 200, { 'content-type': 'text/html' }),
      status: 200,
    },
    'an empty body with status 200': { answer: whole('', 200), status: 200 },
    'a JSON array with status 200': { answer: whole('[]', 200), status: 200 },
    ...(stream
      ? {
          'an empty stream': { answer: sse(''), status: 200 },
          'a stream cut before its content': { answer: cutAfter(CHAT_OPENING), status: 200 },
          'a stream that ends before its content': { answer: sse(CHAT_OPENING), status: 200 },
          'an error inside the stream before its content': {
            answer: sse([
              CHAT_OPENING,
              frame({ error: { message: 'overloaded', type: 'server_error', code: 500 } }),
            ]),
            status: 200,
          },
          'a malformed first event': { answer: sse('data: {"choices": [\n\n'), status: 200 },
        }
      : { 'half an answer': { answer: cutHalfway(chatBody('Hello')), status: 200 } }),
  };

  test.each(Object.keys(failures))('after %s the next endpoint answers', async (name) => {
    const failure = failures[name];
    if (!failure) throw new Error('no such failure');
    const [first, second] = [scene.upstream('first'), scene.upstream('second')];
    first.always(failure.answer);
    second.script(good(stream));
    clock.impatient = true;
    const response = await ask(stream);
    clock.impatient = false;
    await expectHello(response, stream);
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
    const record = await recordOf(scene.gateway, response);
    // One retry where the endpoint may recover.
    const tries = failure.once ? 1 : 2;
    expect(attemptsOf(record)).toEqual([...Array<string>(tries).fill('first failed'), 'second completed']);
    expect(response.headers.get('x-dragoman-attempts')).toBe(String(tries + 1));
    expect(at(record, 'requestRetryTimes')).toBe(tries);
    expect(at(record, 'attempts', 0, 'status')).toBe(failure.status);
    expect(at(record, 'status')).toBe(200);
    expect(at(record, 'error')).toBeNull();
    // Only the attempt that answered costs anything.
    expect(at(record, 'cost', 'usd')).toBe(at(record, 'attempts', -1, 'cost', 'usd') ?? null);
  });

  test('if an endpoint cannot be reached, the next one serves the request', async () => {
    scene.upstream('second').script(good(stream));
    clock.waits.length = 0;
    const answered = ask(stream, 'dead/then-second');
    await clock.armed();
    clock.advance(1000);
    const response = await answered;
    await expectHello(response, stream);
    expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual([
      'dead failed',
      'dead failed',
      'second completed',
    ]);
  });

  test('a 500 that passes: the same endpoint answers', async () => {
    const first = scene.upstream('first');
    first.script(chatError(500), good(stream));
    scene.upstream('second').script();
    clock.waits.length = 0;
    const answered = ask(stream);
    await clock.armed();
    clock.advance(clock.waits[0] ?? 0);
    const response = await answered;
    await expectHello(response, stream);
    expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual(['first failed', 'first completed']);
    expect(scene.upstream('second').requests).toHaveLength(0);
  });

  test('the gateway waits as long as a 429 asks', async () => {
    const first = scene.upstream('first');
    first.script(chatError(429, { 'retry-after': '2' }), good(stream));
    clock.waits.length = 0;
    const answered = ask(stream, 'one/chat');
    await clock.armed();
    expect(clock.waits).toEqual([2000]);
    clock.advance(1999);
    expect(first.requests).toHaveLength(1);
    clock.advance(1);
    await expectHello(await answered, stream);
    expect(first.requests).toHaveLength(2);
  });

  test('an endpoint that returned 429 pauses while the others are tried', async () => {
    const first = scene.upstream('first');
    first.script(chatError(429, { 'retry-after-ms': '1500' }), good(stream));
    scene.upstream('second').script(chatError(401));
    clock.waits.length = 0;
    const answered = ask(stream);
    await clock.armed();
    expect(scene.upstream('second').requests).toHaveLength(1);
    expect(clock.waits).toEqual([1500]);
    clock.advance(1500);
    const response = await answered;
    await expectHello(response, stream);
    expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual([
      'first failed',
      'second failed',
      'first completed',
    ]);
  });

  test('a 429 that asks for a minute goes to the next endpoint at once', async () => {
    const first = scene.upstream('first');
    first.script(chatError(429, { 'retry-after': '60' }));
    scene.upstream('second').script(good(stream));
    await expectHello(await ask(stream), stream);
    expect(first.requests).toHaveLength(1);
  });

  test.each([429, 503])(
    'a date in `retry-after` counts from the arrival of a %i without `date`',
    async (status) => {
      const first = scene.upstream('first');
      const date = new Date(clock.wall() + 60_999).toUTCString();
      first.script(chatError(status, { 'retry-after': date }));
      const response = await ask(stream, 'one/chat');
      expect(response.status).toBe(status);
      expect(response.headers.get('retry-after')).toMatch(/^6[01]$/);
      expect(first.requests).toHaveLength(1);
    },
  );

  test('a 429 without `retry-after` lasts until the limit that it announces resets', async () => {
    const first = scene.upstream('first');
    const limits = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20s' };
    first.script(chatError(429, limits));
    const response = await ask(stream, 'one/chat');
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('20');
    expect(first.requests).toHaveLength(1);
  });

  test('an endpoint whose account is out of credit is not tried again', async () => {
    scene.upstream('first').script(chatError(429, {}, 'insufficient_quota'));
    scene.upstream('second').script(good(stream));
    await expectHello(await ask(stream), stream);
    expect(scene.upstream('first').requests).toHaveLength(1);
  });

  test('the next endpoint answers if the first is too slow', async () => {
    const first = scene.upstream('first');
    first.script(stream ? opened(CHAT_OPENING) : silence);
    scene.upstream('second').script(good(stream));
    const answered = ask(stream);
    const { closed } = await first.arrived(1);
    if (stream) {
      // The head of a stream is no content: the first token still counts. A minute passes in steps, as it would.
      for (let second = 0; second < 60; second++) clock.advance(1000);
      clock.advance(200);
    } else {
      clock.advance(300_200);
    }
    const response = await answered;
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(stream ? streamedText(text) : at(JSON.parse(text), 'choices', 0, 'message', 'content')).toBe(
      'Hello',
    );
    // An upstream that is too slow is also stopped.
    await closed;
    const record = await recordOf(scene.gateway, response);
    expect(attemptsOf(record)).toEqual(['first failed', 'second completed']);
    expect(at(record, 'attempts', 0, 'error', 'kind')).toBe('timeout');
  });

  test.each([400, 413, 422])("status %p is the caller's own: returned at once", async (status) => {
    scene.upstream('first').script(chatError(status));
    scene.upstream('second').script(good(stream));
    const response = await ask(stream);
    expect(response.status).toBe(status);
    expect(at(await response.json(), 'error', 'message')).toContain(`scripted ${status}`);
    expect(response.headers.get('x-dragoman-attempts')).toBe('1');
    expect(scene.upstream('second').requests).toHaveLength(0);
    expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual(['first failed']);
  });

  test('if no endpoint can serve the request, one error names all of them, and clients do not retry it', async () => {
    scene.upstream('first').always(chatError(401));
    scene.upstream('second').always(chatError(403));
    const response = await ask(stream);
    expect(response.status).toBe(502);
    expect(response.headers.get('x-should-retry')).toBe('false');
    const message = String(at(await response.json(), 'error', 'message'));
    expect(message).toContain('first');
    expect(message).toContain('second');
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'status')).toBe(502);
    expect(at(record, 'cost')).toBeNull();
  });

  test('everybody is rate limited: 429 with the shortest wait', async () => {
    scene.upstream('first').always(chatError(429, { 'retry-after': '60' }));
    scene.upstream('second').always(chatError(429, { 'retry-after': '30' }));
    const response = await ask(stream);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('30');
    expect(response.headers.get('x-should-retry')).toBeNull();
    await response.text();
  });

  test('everybody is too slow: 504', async () => {
    const [first, second] = [scene.upstream('first'), scene.upstream('second')];
    first.script(silence);
    second.script(silence);
    const answered = ask(false);
    for (const upstream of [first, second]) {
      await upstream.arrived(1);
      clock.advance(300_200);
    }
    const response = await answered;
    expect(response.status).toBe(504);
    expect(response.headers.get('x-should-retry')).toBe('false');
    await response.text();
  });

  test('only one endpoint is tried if fallback is disabled', async () => {
    scene.upstream('first').script(chatError(401));
    scene.upstream('second').script(good(stream));
    const body = { model: 'all/chat', messages: MESSAGES, stream, provider: { fallback: false } };
    const response = await scene.gateway.post('/chat/completions', body);
    // Refused by its name while routing is not there, or obeyed: never ignored.
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(scene.upstream('second').requests).toHaveLength(0);
    await response.text();
  });
});

test('all attempts together end with the deadline', async () => {
  const first = scene.upstream('first');
  first.script(opened(chatStream().slice(0, 0) + chatChunk({ role: 'assistant', content: 'Hel' })));
  const response = await ask(true);
  const exchange = await first.arrived(1);
  // Never silent for long, never done.
  const reading = new StreamReading(response);
  await reading.until('Hel');
  for (let minute = 0; minute < 10; minute++) {
    clock.advance(55_000);
    exchange.chunk(chatChunk({ content: `${minute}.` }));
    await reading.until(`"${minute}."`);
  }
  clock.advance(55_000);
  const text = await reading.rest();
  expect(frames(text).at(-1)).not.toBe('[DONE]');
  expect(text).toContain('error');
  await exchange.closed;
  const record = await recordOf(scene.gateway, response);
  expect(at(record, 'error', 'kind')).toBe('timeout');
  expect(list(record, 'attempts')).toHaveLength(1);
});
