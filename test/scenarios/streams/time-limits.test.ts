// The time that one request may take: over all attempts together, until its first token, and in silence; as the
// operator set it, and as a request may shorten it by header or body.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { opened, silence } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { attemptsOf, recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import { begun, sound, stageOf } from '../faults/fault.ts';

const clock = new ArmedClock();
const stage = stageOf('openai-chat', true);
const scene = await startScene(['first', 'second', 'third'], { clock });
afterEach(() => clock.advance(600_000));
afterAll(() => scene[Symbol.asyncDispose]());

interface Limits {
  readonly headers?: Record<string, string>;
  readonly provider?: object;
}

/** The same limit in each way in which it can be said. */
function ways(name: 'timeout' | 'first-token-timeout' | 'idle-timeout', ms: number): [string, Limits][] {
  const header = `x-dragoman-${name}-ms`;
  const member = `${name.replaceAll('-', '_')}_ms`;
  return [
    ['as a header', { headers: { [header]: String(ms) } }],
    ['in the body', { provider: { [member]: ms } }],
    ['in both, the header shorter', { headers: { [header]: String(ms) }, provider: { [member]: ms + 500 } }],
    ['in both, the body shorter', { headers: { [header]: String(ms + 500) }, provider: { [member]: ms } }],
  ];
}

describe.each(Object.keys(CLIENTS) as ClientProtocol[])('%s client', (protocol) => {
  const { path, ask, receive } = CLIENTS[protocol];
  const post = ({ headers = {}, provider }: Limits, stream = true): Promise<Response> => {
    const body = { ...ask('all/chat', stream), ...(provider && { provider }) };
    return scene.gateway.post(path('all/chat', stream), body, headers);
  };
  /** The next requests of the three, in order. */
  const script = (...answers: readonly Answer[]): void => {
    for (const [index, name] of ['first', 'second', 'third'].entries())
      scene.upstream(name).script(answers[index] ?? sound(stage, 'second'));
  };
  /** Everything that is on its way to the gateway is read, and then time passes. */
  const pass = async (ms: number): Promise<void> => {
    await (await scene.gateway.get('/files')).text();
    clock.advance(ms);
  };
  const durations = (record: Json): unknown[] => list(record, 'attempts').map((each) => at(each, 'duration'));

  test.each(ways('timeout', 9000))('the deadline holds over all attempts: %s', async (_, limits) => {
    script(silence, silence, silence);
    const provider = { ...limits.provider, first_token_timeout_ms: 4000 };
    const asked = post({ ...limits, provider });
    await scene.upstream('first').arrived(1);
    await pass(4100);
    await scene.upstream('second').arrived(1);
    await pass(4100);
    await scene.upstream('third').arrived(1);
    await pass(900);
    const response = await asked;
    expect(response.status).toBe(504);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(receive(false, await response.text())).toMatchObject({ complete: false });
    const record = await recordOf(scene.gateway, response);
    expect(attemptsOf(record)).toEqual(['first failed', 'second failed', 'third failed']);
    expect(durations(record)).toEqual([4100, 4100, 900]);
  });

  test('the limits of the operator apply if the request gives none', async () => {
    script(silence);
    const asked = post({});
    await scene.upstream('first').arrived(1);
    await pass(59_900);
    expect(scene.upstream('second').requests).toHaveLength(0);
    await pass(200);
    expect(receive(true, await (await asked).text()).complete).toBe(true);
  });

  test('no wait exceeds the deadline', async () => {
    script(stage.first.error(429, { 'retry-after': '4' }));
    clock.waits.length = 0;
    const body = { ...ask('one/chat', true), provider: { timeout_ms: 3000 } };
    const response = await scene.gateway.post(path('one/chat', true), body);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('4');
    await response.text();
    expect(clock.waits).toEqual([]);
    expect(scene.upstream('first').requests).toHaveLength(1);
  });

  test.each(ways('first-token-timeout', 1000))(
    'fails over if the first token is late: %s',
    async (_, limits) => {
      script(opened(stage.first.opening));
      const asked = post(limits);
      await scene.upstream('first').arrived(1);
      await pass(900);
      expect(scene.upstream('second').requests).toHaveLength(0);
      await pass(200);
      const response = await asked;
      expect(receive(true, await response.text()).complete).toBe(true);
      expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual([
        'first failed',
        'second completed',
      ]);
    },
  );

  test.each(ways('idle-timeout', 2000))('ends the stream after a silence: %s', async (_, limits) => {
    script(opened(begun(stage)));
    const response = await post(limits);
    const { closed } = await scene.upstream('first').arrived(1);
    await pass(1900);
    expect(scene.upstream('first').exchanges).toHaveLength(1);
    await pass(300);
    const received = receive(true, await response.text());
    expect(received).toMatchObject({ complete: false, error: expect.stringContaining('2000 ms') });
    await closed;
    expect(at(await recordOf(scene.gateway, response), 'error', 'kind')).toBe('timeout');
  });

  test.each([
    ['x-dragoman-timeout-ms', 'provider.timeout_ms', 600_000],
    ['x-dragoman-first-token-timeout-ms', 'provider.first_token_timeout_ms', 60_000],
    ['x-dragoman-idle-timeout-ms', 'provider.idle_timeout_ms', 60_000],
  ])('%s: longer than the operator’s is clamped, and reported', async (header, member, limitMs) => {
    for (const [path_, limits] of [
      [header, { headers: { [header]: '86000000' } }],
      [member, { provider: { [member.slice('provider.'.length)]: 86_000_000 } }],
    ] as const) {
      script(sound(stage, 'first'));
      const response = await post(limits);
      expect(receive(true, await response.text()).complete).toBe(true);
      expect(response.headers.get('x-dragoman-report')).toContain(`${path_}:clamped`);
      const report = list(await recordOf(scene.gateway, response), 'report');
      const entry = report.find((each) => at(each, 'path') === path_);
      expect(entry).toMatchObject({ action: 'clamped', reason: expect.stringContaining(String(limitMs)) });
    }
  });

  test.each(['0', '-1', '1.5', '1e3', 'soon', ' ', '9999999999'])(
    'a header of %j is a 400',
    async (value) => {
      for (const header of ['timeout', 'first-token-timeout', 'idle-timeout']) {
        script();
        const name = `x-dragoman-${header}-ms`;
        const response = await post({ headers: { [name]: value } });
        expect(response.status).toBe(400);
        // Not every protocol has a member for the name of what is wrong.
        const message = String(at(await response.json(), 'error', 'message'));
        expect(message).toContain(`${name}: must be an integer of at least 1`);
        expect(scene.upstream('first').requests).toHaveLength(0);
      }
    },
  );
});
