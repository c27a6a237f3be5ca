// Failures while a response is made: the client receives them in the words of the API, nothing half is kept, another
// endpoint answers where it may, and a repeated request gets the same response.
import { afterAll, describe, expect, test } from 'bun:test';
import { cutAfter, noAnswer, opened, silence, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import {
  answered,
  ask,
  saidIn,
  says,
  SECOND,
  startResponses,
  reported,
  WAYS,
  WAYS_AND_MODES,
  wordsOf,
  type Answered,
  type ResponsesScene,
  type Way,
} from '../../support/responses-scene.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

/** A stream that has begun, without content, with some, and with a failure after it. */
const opening = (way: Way): string => wordsOf(way).opening;
function begun(way: Way, failing = false): string {
  const words = wordsOf(way);
  return words.opening + words.piece('One, two,') + (failing ? words.errorFrame : '');
}

const events = (answer: Answered): string[] => answer.frames.map((frame) => frame.event);

async function expectNothingKept(answer: Answered): Promise<void> {
  expect((await scene.gateway.get(`/responses/${answer.id}`)).status).toBe(404);
  const next = await ask(scene, 'chat', { input: 'On', previous_response_id: answer.id }, false);
  expect(next.status).toBe(400);
}

describe.each(WAYS)('over %s', (way) => {
  test('a failure before the first content is an error response', async () => {
    for (const failure of [
      noAnswer,
      whole('{}', 503),
      cutAfter(opening(way)),
      opened(opening(way) + wordsOf(way).errorFrame),
    ]) {
      scene.upstream.script(failure);
      const failed = await ask(scene, way, { input: 'Hi' }, true);
      expect(failed.frames).toEqual([]);
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(at(failed.body, 'error', 'message')).toBeString();
    }
  });

  test('a failure after it is an error and response.failed, and nothing is kept', async () => {
    for (const failure of [cutAfter(begun(way)), opened(begun(way, true))]) {
      scene.upstream.script(failure);
      const failed = await ask(scene, way, { input: 'Hi' }, true);
      expect(failed.status).toBe(200);
      expect(events(failed).slice(-2)).toEqual(['error', 'response.failed']);
      expect(at(failed.body, 'status')).toBe('failed');
      expect(at(failed.body, 'error', 'message')).toBeString();
      expect(events(failed)).toContain('response.output_text.delta');
      await expectNothingKept(failed);
    }
  });

  test('a client that disconnects leaves nothing stored', async () => {
    scene.upstream.script(opened(begun(way)));
    const response = await scene.gateway.post('/responses', {
      model: `to/${way}`,
      input: 'Hi',
      stream: true,
    });
    const reading = new StreamReading(response);
    const id = /"id":"(resp_\w+)"/.exec(await reading.until('One, two,'))?.[1];
    const exchange = await scene.upstream.arrived(1);
    await reading.leave();
    await exchange.closed;
    expect((await scene.gateway.get(`/responses/${id}`)).status).toBe(404);
  });

  test.each([false, true])(
    'another endpoint answers, invisible to the client, streamed: %p',
    async (stream) => {
      const second = SECOND[way];
      const failures = [whole('{}', 503), ...(stream ? [cutAfter(opening(way))] : [])];
      for (const failure of failures) {
        scene.upstream.script(failure, says(second, [{ text: 'Here.' }]));
        const answer = await ask(scene, way, { model: `two/${way}`, input: 'Hi' }, stream);
        expect(saidIn(answer)).toEqual(['Here.']);
        expect(scene.upstream.requests.map(({ json }) => at(json, 'model'))).toEqual(['first', 'second']);
        expect(await (await scene.gateway.get(`/responses/${answer.id}`)).json()).toEqual(answer.body);
      }
    },
  );

  test('another endpoint answers also after content if the stream is buffered', async () => {
    scene.upstream.script(cutAfter(begun(way)), says(SECOND[way], [{ text: 'Uno, dos, tres.' }]));
    const body = { model: `two/${way}`, input: 'Count', provider: { stream_safety: 'buffer' } };
    const answer = await ask(scene, way, body, true);
    expect(saidIn(answer)).toEqual(['Uno, dos, tres.']);
    expect(JSON.stringify(answer.frames)).not.toContain('One');
    expect(await (await scene.gateway.get(`/responses/${answer.id}`)).json()).toEqual(answer.body);
  });
});

test.each(['chat', 'responses', 'messages'] as const)(
  'a response that begins over %s and is completed by another endpoint is stored whole',
  async (way) => {
    // The second must take the beginning of an answer, which not every protocol does.
    scene.upstream.script(cutAfter(begun(way)), says(SECOND[way], [{ text: ' three.' }]));
    const body = { model: `two/${way}`, input: 'Count', provider: { stream_safety: 'continue' } };
    const answer = await ask(scene, way, body, true);
    expect([at(answer.body, 'status'), saidIn(answer)]).toEqual(['completed', ['One, two, three.']]);
    expect(reported(scene.upstream.requests[1])).toEqual(['user: Count', 'assistant: One, two,']);
    expect(await (await scene.gateway.get(`/responses/${answer.id}`)).json()).toEqual(answer.body);
    scene.upstream.script(says(way, [{ text: 'Four.' }]));
    await ask(scene, way, { input: 'More', previous_response_id: answer.id }, false);
    expect(reported(scene.upstream.requests[0])[1]).toBe('assistant: One, two, three.');
  },
);

describe.each(WAYS_AND_MODES)('an idempotency key over %s, streamed: %p', (way, stream) => {
  const post = (key: string, body: object): Promise<Response> =>
    scene.gateway.post('/responses', { model: `to/${way}`, stream, ...body }, { 'idempotency-key': key });

  test('all requests with the same key get one response', async () => {
    const key = `key-${way}-${stream}`;
    let answer = (): void => {};
    scene.upstream.script((exchange) => (answer = () => says(way, [{ text: 'Once.' }])(exchange)));
    const both = [post(key, { input: 'Hi' }), post(key, { input: 'Hi' })];
    await scene.upstream.arrived(1);
    answer();
    const [one, two] = await Promise.all(both.map(async (each) => answered(await each)));
    const later = await answered(await post(key, { input: 'Hi' }));
    expect(two?.body).toEqual(one?.body as never);
    expect(later.body).toEqual(one?.body as never);
    expect(scene.upstream.requests).toHaveLength(1);
    expect(await (await scene.gateway.get(`/responses/${later.id}`)).json()).toEqual(later.body);
    const other = await answered(await post(key, { input: 'Something else' }));
    expect(other.status).toBeGreaterThanOrEqual(400);
    expect(scene.upstream.requests).toHaveLength(1);
  });

  test('a repeated turn of a conversation is appended once', async () => {
    const made = await scene.gateway.post('/conversations', {});
    const conversation = String(at(await made.json(), 'id'));
    const key = `turn-${way}-${stream}`;
    scene.upstream.script(says(way, [{ text: 'Once.' }]));
    const first = await answered(await post(key, { input: 'Hi', conversation }));
    const again = await answered(await post(key, { input: 'Hi', conversation }));
    expect(again.body).toEqual(first.body);
    const items = await scene.gateway.get(`/conversations/${conversation}/items`);
    expect(list(await items.json(), 'data')).toHaveLength(2);
  });
});

test.each([false, true])(
  'the sooner of two hedged attempts answers and is kept, streamed: %p',
  async (stream) => {
    const clock = new ArmedClock();
    await using own: ResponsesScene = await startResponses({ clock });
    const post = (hedge: boolean): Promise<Response> =>
      own.gateway.post('/responses', { model: 'two/chat', input: 'Hi', stream, provider: { hedge } });
    for (let measure = 0; measure < 20; measure++) {
      own.upstream.script(silence);
      const asked = post(false);
      const exchange = await own.upstream.arrived(1);
      clock.advance(400);
      says('chat', [{ text: 'Usual.' }])(exchange);
      await (await asked).text();
    }
    own.upstream.script(silence, says('messages', [{ text: 'Sooner.' }]));
    clock.waits.length = 0;
    const asked = post(true);
    const late = await own.upstream.arrived(1);
    await clock.armed();
    clock.advance(clock.waits[0] ?? 0);
    const answer = await answered(await asked);
    await late.closed;
    expect(saidIn(answer)).toEqual(['Sooner.']);
    expect(await (await own.gateway.get(`/responses/${answer.id}`)).json()).toEqual(answer.body);
  },
);
