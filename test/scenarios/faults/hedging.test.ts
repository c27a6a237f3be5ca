// `provider.hedge`: when the first content is later than it usually is, another endpoint is asked as well. Whoever is
// sooner answers, the other is stopped, and both are in the records.
import { describe, expect, test } from 'bun:test';
import { noAnswer, silence } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import {
  attemptsOf,
  recordOf,
  startScene,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import { begun, SAID, sound, stageOf, type Speaker } from './fault.ts';

const { path, ask, receive } = CLIENTS['openai-chat'];
/** How long the first usually takes, and how late it may be: classes of durations are up to 9 % wide. */
const USUAL_MS = 400;
const LATEST_MS = USUAL_MS * 1.1;

describe.each([
  { stream: true, faithful: true },
  { stream: true, faithful: false },
  { stream: false, faithful: true },
  { stream: false, faithful: false },
])('%j', ({ stream, faithful }) => {
  const stage = stageOf('openai-chat', stream);
  const clock = new ArmedClock();

  const post = (scene: Scene, provider: object = { hedge: true }): Promise<Response> =>
    scene.gateway.post(path('all/chat', stream), { ...ask('all/chat', stream), provider });

  /** A gateway that knows how long the first takes, from so many answers. */
  async function known(measures = 20): Promise<Scene> {
    const scene = await startScene(['first', 'second'], { clock, faithful });
    const first = scene.upstream('first');
    for (let measure = 0; measure < measures; measure++) {
      first.script(silence);
      const asked = post(scene, {});
      const exchange = await first.arrived(1);
      clock.advance(USUAL_MS);
      sound(stage, 'first')(exchange);
      await (await asked).text();
    }
    first.script(silence);
    scene.upstream('second').script(silence);
    clock.waits.length = 0;
    return scene;
  }

  async function expectAnswer(response: Response, speaker: Speaker): Promise<void> {
    const received = receive(stream, await response.text());
    expect(received).toEqual({ text: SAID[speaker].join(''), complete: true, error: null, starts: 1 });
  }

  /** Attempts as the records tell them; who was stopped did not fail, and the whole is the sum of its parts. */
  async function reported(scene: Scene, response: Response): Promise<[readonly string[], Json]> {
    const record = await recordOf(scene.gateway, response);
    return [attemptsOf(record), record];
  }

  test('a late first is overtaken and stopped', async () => {
    await using scene = await known();
    const asked = post(scene);
    const late = await scene.upstream('first').arrived(1);
    await clock.armed();
    const [patience = 0] = clock.waits;
    expect(clock.waits).toHaveLength(1);
    expect(patience).toBeGreaterThanOrEqual(USUAL_MS);
    expect(patience).toBeLessThanOrEqual(LATEST_MS);
    clock.advance(patience - 1);
    expect(scene.upstream('second').requests).toHaveLength(0);
    clock.advance(1);
    sound(stage, 'second')(await scene.upstream('second').arrived(1));
    const response = await asked;
    await expectAnswer(response, 'second');
    expect(response.headers.get('x-dragoman-provider')).toBe('second');
    await late.closed;
    const [attempts, record] = await reported(scene, response);
    expect(attempts).toEqual(['first cancelled', 'second completed']);
    expect(at(record, 'provider')).toBe('second');
    expect(at(record, 'attempts', 0, 'error', 'message')).toContain('Another endpoint responded first');
    expect(at(record, 'cost', 'usd')).toBe(at(record, 'attempts', 1, 'cost', 'usd') ?? null);
  });

  test('a late first that is still sooner stops the second', async () => {
    await using scene = await known();
    const asked = post(scene);
    const first = await scene.upstream('first').arrived(1);
    await clock.armed();
    clock.advance(LATEST_MS);
    const second = await scene.upstream('second').arrived(1);
    sound(stage, 'first')(first);
    const response = await asked;
    await expectAnswer(response, 'first');
    await second.closed;
    const [attempts] = await reported(scene, response);
    expect(attempts).toEqual(['first completed', 'second cancelled']);
  });

  test('a first that is in time is alone', async () => {
    await using scene = await known();
    const asked = post(scene);
    const first = await scene.upstream('first').arrived(1);
    await clock.armed();
    clock.advance(USUAL_MS - 1);
    sound(stage, 'first')(first);
    const response = await asked;
    await expectAnswer(response, 'first');
    clock.advance(10_000);
    expect(scene.upstream('second').requests).toHaveLength(0);
    expect((await reported(scene, response))[0]).toEqual(['first completed']);
  });

  test.each<[string, Answer]>([
    ['answers', sound(stage, 'second')],
    ['refuses', stage.second.error(401)],
  ])('the first fails while both run, and the second %s', async (_, answer) => {
    await using scene = await known();
    const asked = post(scene);
    const first = await scene.upstream('first').arrived(1);
    await clock.armed();
    clock.advance(LATEST_MS);
    const second = await scene.upstream('second').arrived(1);
    stage.first.error(403)(first);
    // The failure has been read before the second speaks.
    await (await scene.gateway.get('/files')).text();
    answer(second);
    const response = await asked;
    const [attempts, record] = await reported(scene, response);
    if (response.status === 200) {
      await expectAnswer(response, 'second');
      expect(attempts).toEqual(['first failed', 'second completed']);
      return;
    }
    expect(response.status).toBe(502);
    const { error } = receive(false, await response.text());
    expect(error).toContain('first: scripted 403');
    expect(error).toContain("second refused the gateway's API key: scripted 401");
    expect(attempts).toEqual(['first failed', 'second failed']);
    expect(at(record, 'cost')).toBeNull();
  });

  test('the first fails before it is late: no race, the usual failover', async () => {
    await using scene = await known();
    scene.upstream('first').script(stage.first.error(403));
    scene.upstream('second').script(sound(stage, 'second'));
    const response = await post(scene);
    await expectAnswer(response, 'second');
    expect((await reported(scene, response))[0]).toEqual(['first failed', 'second completed']);
  });

  test.each([
    ['it is not requested', 20, {}],
    ['too little is known', 19, { hedge: true }],
    ['no other endpoint may answer', 20, { hedge: true, fallback: false }],
  ])('no second attempt is started if %s', async (_, measures, provider) => {
    await using scene = await known(measures);
    const asked = post(scene, provider);
    const first = await scene.upstream('first').arrived(1);
    clock.advance(9000);
    await (await scene.gateway.get('/files')).text();
    sound(stage, 'first')(first);
    const response = await asked;
    await expectAnswer(response, 'first');
    expect(scene.upstream('second').requests).toHaveLength(0);
    expect((await reported(scene, response))[0]).toEqual(['first completed']);
  });

  if (!stream) return;
  test('a buffered response wins by its first content, and another endpoint may still complete it', async () => {
    await using scene = await known();
    const asked = post(scene, { hedge: true, stream_safety: 'buffer' });
    const first = await scene.upstream('first').arrived(1);
    await clock.armed();
    clock.advance(LATEST_MS);
    const second = await scene.upstream('second').arrived(1);
    scene.upstream('first').script(noAnswer);
    scene.upstream('second').script(sound(stage, 'second'));
    first.openStream();
    first.chunk(begun(stage));
    await second.closed;
    clock.impatient = true;
    first.cut();
    const response = await asked;
    await expectAnswer(response, 'second');
    clock.impatient = false;
    const [attempts] = await reported(scene, response);
    expect(attempts.slice(0, 2)).toEqual(['first failed', 'second cancelled']);
    expect(attempts.at(-1)).toBe('second completed');
  });
});
