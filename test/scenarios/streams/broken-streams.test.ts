// Streams that break after the first content, when no other endpoint can answer: the client receives an error, natively and
// at once, and the records know. Never a normal end of an answer that was none.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  CHAT_ENDING,
  CHAT_OPENING,
  chatBody,
  chatChunk,
  chatStream,
  cutAfter,
  frame,
  opened,
  silence,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import {
  attemptsOf,
  frames,
  recordOf,
  startScene,
  StreamReading,
  streamedText,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Tell me a story.' }];
const clock = new ArmedClock();
const scenes: { relay?: Scene; translate?: Scene } = {};
beforeAll(async () => {
  const names = ['first', 'second'];
  [scenes.relay, scenes.translate] = await Promise.all([
    startScene(names, { clock, faithful: true }),
    startScene(names, { clock }),
  ]);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const SOME = CHAT_OPENING + chatChunk({ content: 'Once upon' });

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  let scene: Scene;
  beforeEach(() => {
    const found = scenes[lane];
    if (!found) throw new Error('no scene');
    scene = found;
    for (const name of ['first', 'second']) scene.upstream(name).script();
  });
  const ask = (body: object = {}, init: RequestInit = {}): Promise<Response> =>
    fetch(`${scene.gateway.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'all/chat', messages: MESSAGES, stream: true, ...body }),
      ...init,
    });

  /** Checks that a stream told of its failure, did not end as if all were well, and was recorded as failed. */
  async function expectFailed(response: Response, text: string, kind: string): Promise<Json> {
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    expect(text).not.toContain('[DONE]');
    expect(streamedText(text)).toStartWith('Once upon');
    const last = frames(text).at(-1);
    expect(at(last, 'error', 'message')).toBeString();
    expect(frames(text).some((chunk) => at(chunk, 'choices', 0, 'finish_reason') === 'stop')).toBe(false);
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'error', 'kind')).toBe(kind);
    expect(attemptsOf(record)).toEqual(['first failed']);
    expect(at(record, 'cancelled')).toBe(false);
    // Tokens that were produced were paid for, as far as they can be known.
    expect(at(record, 'estimated')).toBe(true);
    expect(at(record, 'cost', 'usd')).toBeGreaterThan(0);
    expect(scene.upstream('second').requests).toHaveLength(0);
    return record;
  }

  const broken: Record<string, Answer> = {
    'a cut connection': cutAfter(SOME),
    'an early end': sse(SOME),
    'an error event': sse([
      SOME,
      frame({ error: { message: 'overloaded', type: 'server_error', code: null } }),
    ]),
    'a malformed event': sse([SOME, 'data: {"choices": [{\n\n', CHAT_ENDING]),
  };
  test.each(Object.keys(broken))('%s', async (name) => {
    scene.upstream('first').script(broken[name] ?? silence);
    const response = await ask();
    expect(response.status).toBe(200);
    await expectFailed(response, await response.text(), 'upstream_unavailable');
  });

  test('a stalled stream ends after the idle time, and the upstream is disconnected', async () => {
    const first = scene.upstream('first');
    first.script(opened(SOME));
    const response = await ask();
    const reading = new StreamReading(response);
    await reading.until('Once upon');
    clock.advance(59_000);
    first.exchanges[0]?.chunk(chatChunk({ content: ' a time' }));
    await reading.until(' a time');
    clock.advance(59_000);
    clock.advance(1_200);
    await expectFailed(response, await reading.rest(), 'timeout');
    await first.exchanges[0]?.closed;
  });

  test('silence is filled with comments, before and after the first content', async () => {
    const first = scene.upstream('first');
    first.script(silence);
    const asked = ask();
    const exchange = await first.arrived(1);
    clock.advance(10_100);
    // The head goes out with the first comment: nobody can know yet who will answer.
    const response = await asked;
    const reading = new StreamReading(response);
    expect(await reading.until('\n\n')).toMatch(/^:.*\n\n$/);
    exchange.openStream();
    exchange.chunk(SOME);
    await reading.until('Once upon');
    for (let count = 2; count <= 3; count++) {
      clock.advance(10_100);
      while (reading.text.split(/^:/m).length - 1 < count) await reading.more();
    }
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    const text = await reading.rest();
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(text.split(/^:/m)).toHaveLength(4);
  });

  test('a failure after a comment is reported in the stream', async () => {
    for (const name of ['first', 'second']) scene.upstream(name).script(silence);
    const asked = ask();
    const exchange = await scene.upstream('first').arrived(1);
    clock.advance(10_100);
    const response = await asked;
    exchange.head(401, { 'content-length': '0' });
    const second = await scene.upstream('second').arrived(1);
    second.head(401, { 'content-length': '0' });
    const text = await response.text();
    expect(at(frames(text).at(-1), 'error', 'message')).toContain('second');
    expect(text).not.toContain('[DONE]');
  });

  test.each([true, false])('a client that disconnects stops the upstream (stream: %p)', async (stream) => {
    const first = scene.upstream('first');
    first.script(stream ? opened(SOME) : silence);
    const leave = new AbortController();
    const asked = ask({ stream, metadata: { mark: `${lane}-${stream}` } }, { signal: leave.signal });
    asked.catch(() => {});
    const exchange = await first.arrived(1);
    const id = stream ? (await asked).headers.get('x-request-id') : null;
    if (stream) {
      const reading = new StreamReading(await asked);
      await reading.until('Once upon');
      exchange.chunk(chatChunk({ content: ' a time' }));
      await reading.until('a time');
    }
    leave.abort();
    // Whole answers are watched from the first tick of the clock on.
    if (!stream) clock.advance(100);
    // No time passes by the gateway's clock meanwhile.
    await exchange.closed;
    expect(scene.upstream('second').requests).toHaveLength(0);
    if (id === null) return;
    const record = await recorded(id);
    expect(at(record, 'cancelled')).toBe(true);
    expect(at(record, 'status')).toBe(499);
    expect(attemptsOf(record)).toEqual(['first cancelled']);
    expect(at(record, 'estimated')).toBe(true);
    // An estimate of what passed, not of the bytes around it.
    expect(at(record, 'nativeTokens', 'completion_tokens')).toBe(Math.ceil('Once upon a time'.length / 4));
    expect(at(record, 'cost', 'usd')).toBeGreaterThan(0);
  });

  /** A record that nobody waits for is written soon after the client has left. */
  async function recorded(id: string): Promise<Json> {
    for (;;) {
      const found = await scene.gateway.get(`/generation?id=${id}`);
      if (found.status === 200) return (await found.json()) as Json;
      await found.text();
    }
  }

  test('a complete stream without an end mark is complete', async () => {
    scene.upstream('first').script(sse(chatStream('Hello').replace('data: [DONE]\n\n', '')));
    const text = await (await ask()).text();
    expect(streamedText(text)).toBe('Hello');
    expect(frames(text).at(-1)).toBe('[DONE]');
  });

  test('data after the end mark is ignored', async () => {
    scene.upstream('first').script(sse([chatStream('Hello'), chatChunk({ content: 'again' })]));
    expect(streamedText(await (await ask()).text())).toBe('Hello');
  });

  test('an error that is not streamed is the error of a streamed request', async () => {
    scene
      .upstream('first')
      .script(whole({ error: { message: 'no such deployment', type: 'x', code: null } }, 200));
    scene.upstream('second').script(sse(chatStream('Hello')));
    clock.impatient = true;
    const response = await ask();
    clock.impatient = false;
    expect(streamedText(await response.text())).toBe('Hello');
  });

  test('a whole answer to a streamed request is streamed', async () => {
    scene.upstream('first').script(whole(chatBody('Hello')));
    const response = await ask();
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const text = await response.text();
    expect(streamedText(text)).toBe('Hello');
    expect(frames(text).at(-1)).toBe('[DONE]');
  });
});

test('a frame that is no chunk passes the relay lane unchanged', async () => {
  const scene = scenes.relay;
  if (!scene) throw new Error('no scene');
  const odd = 'data: {"moderation": {"score": 1.50}}\n\n';
  for (const name of ['first', 'second']) scene.upstream(name).script();
  scene.upstream('first').script(sse([SOME, odd, CHAT_ENDING]));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'all/chat',
    messages: MESSAGES,
    stream: true,
  });
  expect(response.headers.get('x-dragoman-lane')).toBe('relay');
  const text = await response.text();
  expect(text).toContain(odd);
  expect(text).toEndWith('data: [DONE]\n\n');
});
