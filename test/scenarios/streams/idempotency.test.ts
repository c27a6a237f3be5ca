// Idempotency keys over real sockets: one upstream call for every request with the same key, the same bytes for each
// of its readers, and nothing kept that a retry should not get.
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  CHAT_ENDING,
  CHAT_OPENING,
  chatBody,
  chatChunk,
  chatError,
  chatStream,
  frame,
  opened,
  silence,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import {
  frames,
  recordOf,
  startScene,
  StreamReading,
  streamedText,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import type { Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const TEXT = 'Grüße, 世界 👋';
const HOUR = 3_600_000;

interface Asking {
  readonly stream?: boolean;
  readonly content?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const bodyOf = ({ stream = false, content = 'Hello' }: Asking): object => ({
  model: 'one/chat',
  messages: [{ role: 'user', content }],
  stream,
});
const ask = (scene: Scene, key: string, asking: Asking = {}): Promise<Response> =>
  scene.gateway.post('/chat/completions', bodyOf(asking), { 'idempotency-key': key, ...asking.headers });
const good = (stream: boolean, text = TEXT): Answer =>
  stream ? sse(chatStream(text.slice(0, 3), text.slice(3))) : whole(chatBody(text));
const replayed = (response: Response): string | null => response.headers.get('idempotent-replayed');

/** Headers of an answer without those that belong to one delivery of it. */
function headersOf(response: Response): object {
  const { date: _, 'idempotent-replayed': __, ...rest } = Object.fromEntries(response.headers);
  return rest;
}

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  const faithful = lane === 'relay';

  test.each([false, true])('a repeated request gets the same response, streamed: %p', async (stream) => {
    await using scene = await startScene(['up'], { faithful });
    const up = scene.upstream('up');
    up.script(good(stream));
    const first = await ask(scene, 'k1', { stream });
    const text = await first.text();
    expect(text).toContain(TEXT.slice(3));
    expect(first.headers.get('x-dragoman-lane')).toBe(lane);
    expect(replayed(first)).toBeNull();
    for (let time = 0; time < 2; time++) {
      const again = await ask(scene, 'k1', { stream });
      expect(await again.text()).toBe(text);
      expect(replayed(again)).toBe('true');
      expect(again.status).toBe(200);
      expect(headersOf(again)).toEqual(headersOf(first));
    }
    expect(up.requests).toHaveLength(1);
    // One upstream call, one record.
    expect(at(await recordOf(scene.gateway, first), 'status')).toBe(200);
    const database = new Database(join(scene.gateway.dataDir, 'dragoman.db'), { readonly: true });
    expect(database.query('select count(*) as n from records').get()).toEqual({ n: 1 });
    database.close();
  });

  test('a reader that joins late gets everything so far, then the rest live', async () => {
    await using scene = await startScene(['up'], { faithful });
    const up = scene.upstream('up');
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'Grü' })));
    const first = await ask(scene, 'k1', { stream: true });
    const readingFirst = new StreamReading(first);
    await readingFirst.until('Grü');
    const second = await ask(scene, 'k1', { stream: true });
    const readingSecond = new StreamReading(second);
    await readingSecond.until('Grü');
    const exchange = await up.arrived(1);
    exchange.chunk(chatChunk({ content: 'ße 👋' }));
    // Live: the answer is far from complete.
    await Promise.all([readingFirst.until('👋'), readingSecond.until('👋')]);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
    const [textFirst, textSecond] = await Promise.all([readingFirst.rest(), readingSecond.rest()]);
    expect(textSecond).toBe(textFirst);
    expect(streamedText(textFirst)).toBe('Grüße 👋');
    expect(frames(textFirst).at(-1)).toBe('[DONE]');
    expect([replayed(first), replayed(second)]).toEqual([null, 'true']);
    expect(headersOf(second)).toEqual(headersOf(first));
    expect(up.requests).toHaveLength(1);
  });

  test('a failure in the stream reaches every reader, and is forgotten', async () => {
    await using scene = await startScene(['up'], { faithful });
    const up = scene.upstream('up');
    up.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })), good(true));
    const first = new StreamReading(await ask(scene, 'k1', { stream: true }));
    await first.until('Hel');
    const second = new StreamReading(await ask(scene, 'k1', { stream: true }));
    await second.until('Hel');
    const exchange = await up.arrived(1);
    exchange.chunk(frame({ error: { message: 'overloaded', type: 'server_error', code: 500 } }));
    exchange.endStream();
    const texts = await Promise.all([first.rest(), second.rest()]);
    expect(texts[1]).toBe(texts[0] ?? '');
    expect(texts[0]).toContain('overloaded');
    expect(texts[0]).not.toContain('[DONE]');
    const third = await ask(scene, 'k1', { stream: true });
    expect(replayed(third)).toBeNull();
    expect(streamedText(await third.text())).toBe(TEXT);
    expect(up.requests).toHaveLength(2);
  });
});

test('readers of an answer that is not streamed wait for the one call', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.script(silence);
  const asked = [ask(scene, 'k1'), ask(scene, 'k1'), ask(scene, 'k1')];
  const exchange = await up.arrived(1);
  // The others are certainly there when a request that came after them is answered.
  await scene.gateway.get('/files');
  good(false)(exchange);
  const answers = await Promise.all(asked);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(texts).size).toBe(1);
  expect(at(JSON.parse(texts[0] ?? ''), 'choices', 0, 'message', 'content')).toBe(TEXT);
  expect(answers.map(replayed).toSorted()).toEqual([null, 'true', 'true'].toSorted());
  expect(up.requests).toHaveLength(1);
});

test('an error before the response reaches every waiting reader, and is not stored', async () => {
  const clock = new ArmedClock();
  await using scene = await startScene(['up'], { clock });
  const up = scene.upstream('up');
  up.script(silence, good(true), chatError(400), good(false));
  const asked = ask(scene, 'k1', { stream: true });
  const exchange = await up.arrived(1);
  // The head of the stream is sent to keep it alive: who has it is a reader.
  clock.advance(11_000);
  const first = await asked;
  const second = await ask(scene, 'k1', { stream: true });
  chatError(400)(exchange);
  const texts = await Promise.all([first.text(), second.text()]);
  expect(texts[1]).toBe(texts[0] ?? '');
  expect(texts[0]).toContain('scripted 400');
  const third = await ask(scene, 'k1', { stream: true });
  expect(streamedText(await third.text())).toBe(TEXT);

  expect((await ask(scene, 'k2')).status).toBe(400);
  const retry = await ask(scene, 'k2');
  expect([retry.status, replayed(retry)]).toEqual([200, null]);
  expect(up.requests).toHaveLength(4);
});

test('the first reader may leave: the second gets the whole answer', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.always(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })));
  const first = new StreamReading(await ask(scene, 'k1', { stream: true }));
  await first.until('Hel');
  const second = new StreamReading(await ask(scene, 'k1', { stream: true }));
  await second.until('Hel');
  const alone = new StreamReading(await ask(scene, 'k2', { stream: true }));
  await alone.until('Hel');
  await first.leave();
  await alone.leave();
  // The later departure was noticed; the earlier one changed nothing.
  await up.exchanges[1]?.closed;
  const exchange = await up.arrived(1);
  exchange.chunk(chatChunk({ content: 'lo' }) + CHAT_ENDING);
  exchange.endStream();
  const text = await second.rest();
  expect(streamedText(text)).toBe('Hello');
  expect(frames(text).at(-1)).toBe('[DONE]');
  expect(up.requests).toHaveLength(2);
  const third = await ask(scene, 'k1', { stream: true });
  expect([replayed(third), await third.text()]).toEqual(['true', text]);
});

test('when every reader has left, the upstream call ends, and a retry makes a new one', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })), good(true));
  const response = await ask(scene, 'k1', { stream: true });
  const first = new StreamReading(response);
  await first.until('Hel');
  const second = new StreamReading(await ask(scene, 'k1', { stream: true }));
  await second.until('Hel');
  await Promise.all([first.leave(), second.leave()]);
  await up.exchanges[0]?.closed;
  const retry = await ask(scene, 'k1', { stream: true });
  expect(replayed(retry)).toBeNull();
  expect(streamedText(await retry.text())).toBe(TEXT);
  expect(up.requests).toHaveLength(2);
  expect(at(await recordOf(scene.gateway, response), 'status')).toBe(499);
});

test('a reader who disconnects before the response ends the call as well', async () => {
  const clock = new ArmedClock();
  await using scene = await startScene(['up'], { clock });
  const up = scene.upstream('up');
  up.script(silence, good(false));
  const client = new RawClient(scene.gateway.origin, bodyOf({}), { 'idempotency-key': 'k1' });
  const exchange = await up.arrived(1);
  client.close();
  // The run looks after its client from its first tick on; a departure before that counts.
  clock.advance(100);
  await exchange.closed;
  const retry = await ask(scene, 'k1');
  expect([retry.status, replayed(retry)]).toEqual([200, null]);
  expect(up.requests).toHaveLength(2);
});

test('a key belongs to one request: the same key with another one is a conflict', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.script(opened(CHAT_OPENING + chatChunk({ content: 'Hel' })));
  const first = new StreamReading(await ask(scene, 'k1', { stream: true }));
  await first.until('Hel');
  const expectConflict = async (asking: Asking): Promise<void> => {
    const response = await ask(scene, 'k1', asking);
    expect(response.status).toBe(409);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(at(await response.json(), 'error')).toMatchObject({
      code: 'idempotency_conflict',
      type: 'invalid_request_error',
      param: 'idempotency-key',
    });
  };
  const others: Asking[] = [
    { stream: true, content: 'Hello!' },
    { stream: false },
    { stream: true, headers: { 'x-dragoman-strict': 'true' } },
  ];
  for (const other of others) await expectConflict(other);
  const exchange = await up.arrived(1);
  exchange.chunk(CHAT_ENDING);
  exchange.endStream();
  await first.rest();
  for (const other of others) await expectConflict(other);
  // The whole request is compared: another operation is another one, too.
  const body = { model: 'one', messages: [{ role: 'user', content: 'Hello' }], stream: true };
  for (const [path, more] of [
    ['/messages', { max_tokens: 5 }],
    ['/embeddings', { input: 'Hello' }],
    ['/responses', { input: 'Hello' }],
  ] as const) {
    const other = await scene.gateway.post(path, { ...body, ...more }, { 'idempotency-key': 'k1' });
    expect([path, other.status]).toEqual([path, 409]);
    expect(await other.text()).toContain('was already used for a different request');
  }
  // Headers that do not steer the gateway do not make another request.
  const same = await ask(scene, 'k1', { stream: true, headers: { 'x-other': '1' } });
  expect([replayed(same), await same.text()]).toEqual(['true', first.text]);
  expect(up.requests).toHaveLength(1);
});

test('a response is stored for its time after completion, regardless of its readers', async () => {
  const clock = new ArmedClock();
  await using scene = await startScene(['up'], { clock });
  const up = scene.upstream('up');
  up.always(good(false));
  await (await ask(scene, 'k1')).text();
  clock.advance(HOUR - 1);
  expect(replayed(await ask(scene, 'k1'))).toBe('true');
  clock.advance(1);
  expect(replayed(await ask(scene, 'k1'))).toBeNull();
  expect(up.requests).toHaveLength(2);
  // Nor does a key stand for its old request any longer.
  clock.advance(HOUR);
  expect((await ask(scene, 'k1', { content: 'another' })).status).toBe(200);
});

describe('memory', () => {
  const filling = (bytes: number): Answer => good(false, 'x'.repeat(bytes));

  test('is bounded: the least recently used response is removed first', async () => {
    const config = { idempotency: { max_mb: 0.1 } };
    await using scene = await startScene(['up'], { config });
    const up = scene.upstream('up');
    up.always(filling(30_000));
    const isKept = async (key: string): Promise<boolean> => {
      const response = await ask(scene, key);
      await response.text();
      return replayed(response) === 'true';
    };
    for (const key of ['a', 'b', 'c']) expect(await isKept(key)).toBe(false);
    for (const key of ['b', 'c', 'a']) expect(await isKept(key)).toBe(true);
    expect(await isKept('d')).toBe(false);
    for (const key of ['c', 'a', 'd']) expect(await isKept(key)).toBe(true);
    expect(await isKept('b')).toBe(false);
    // An answer that would need all of it drives nobody else out.
    up.always(filling(110_000));
    for (let time = 0; time < 2; time++) expect(await isKept('large')).toBe(false);
    expect(await isKept('b')).toBe(true);
  });

  test('without memory, every request runs', async () => {
    await using scene = await startScene(['up'], { config: { idempotency: { max_mb: 0 } } });
    scene.upstream('up').always(good(true));
    for (let time = 0; time < 2; time++) {
      const response = await ask(scene, 'k1', { stream: true });
      expect([replayed(response), streamedText(await response.text())]).toEqual([null, TEXT]);
    }
    expect(scene.upstream('up').requests).toHaveLength(2);
  });
});

test('two API keys may use the same idempotency key', async () => {
  const keys = ['sk-test', 'sk-test-2'].map((key) => ({ name: key, key }));
  await using scene = await startScene(['up'], { config: { keys } });
  const up = scene.upstream('up');
  up.script(good(false, 'one'), good(false, 'two'));
  const contents: unknown[] = [];
  for (const { key } of [...keys, ...keys]) {
    const response = await ask(scene, 'k1', { headers: { authorization: `Bearer ${key}` } });
    contents.push(at(await response.json(), 'choices', 0, 'message', 'content'));
  }
  expect(contents).toEqual(['one', 'two', 'one', 'two']);
  expect(up.requests).toHaveLength(2);
});

test('a malformed key is a 400 that names it', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.always(good(false));
  for (const key of ['', 'two words', 'schlüssel', 'x'.repeat(256)]) {
    const response = await ask(scene, key);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string; param: string } };
    expect(error.message).toContain('1 to 255 visible ASCII characters');
    expect(error.param).toBe('idempotency-key');
  }
  expect(up.requests).toHaveLength(0);
  expect((await ask(scene, 'x'.repeat(255))).status).toBe(200);
});
