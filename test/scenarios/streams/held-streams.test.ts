// `stream_safety: "buffer"`: nothing of an answer is shown before all of it is there, so that every failure can be
// rescued; meanwhile the connection is kept alive, and what nobody could rescue is told.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { opened } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import {
  attemptsOf,
  recordOf,
  startScene,
  StreamReading,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { begun, markOf, SAID, sound, stageOf } from '../faults/fault.ts';

const clock = new ArmedClock();
const scenes: { relay?: Scene; translate?: Scene } = {};
beforeAll(async () => {
  const models = UPSTREAM_PROTOCOLS.map((protocol) => ({
    id: `two/${protocol}`,
    endpoints: ['first', 'second'].map((provider) => ({ provider, model: 'm', protocol })),
  }));
  const names = ['first', 'second'];
  scenes.relay = await startScene(names, { clock, faithful: true, config: { models } });
  scenes.translate = await startScene(names, { clock, config: { models } });
});
afterEach(() => {
  clock.impatient = false;
  clock.advance(600_000);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const WAYS = (Object.keys(CLIENTS) as ClientProtocol[]).flatMap((client) =>
  UPSTREAM_PROTOCOLS.flatMap((upstream: UpstreamProtocol) =>
    (upstream === client ? (['relay', 'translate'] as const) : (['translate'] as const)).map((lane) => ({
      client,
      upstream,
      lane,
    })),
  ),
);

describe.each(WAYS)('$client client, $upstream upstream, $lane lane', ({ client, upstream, lane }) => {
  const { path, ask, receive } = CLIENTS[client];
  const stage = stageOf(upstream, true);
  const sceneOf = (): Scene => {
    const scene = scenes[lane];
    if (!scene) throw new Error('no scene');
    for (const name of ['first', 'second']) scene.upstream(name).script();
    return scene;
  };
  const post = (scene: Scene): Promise<Response> =>
    scene.gateway.post(path(`two/${upstream}`, true), {
      ...ask(`two/${upstream}`, true),
      provider: { stream_safety: 'buffer' },
    });
  const comments = (text: string): number => text.split(/^:/m).length - 1;

  test('comments continue, and the response follows at once when it is complete', async () => {
    const scene = sceneOf();
    const first = scene.upstream('first');
    first.script(opened(begun(stage)));
    const asked = post(scene);
    const exchange = await first.arrived(1);
    clock.advance(10_100);
    const reading = new StreamReading(await asked);
    for (let count = 2; count <= 4; count++) {
      exchange.chunk(stage.first.piece(''));
      await (await scene.gateway.get('/files')).text();
      clock.advance(10_100);
      while (comments(reading.text) < count) await reading.more();
    }
    expect(reading.text.replaceAll(/^:.*\n\n/gm, '')).toBe('');
    const { piece, ending, endMark } = stage.first;
    exchange.chunk(piece(SAID.first[1]) + ending(SAID.first.join('')) + endMark);
    exchange.endStream();
    const received = receive(true, await reading.rest());
    expect(received).toEqual({ text: SAID.first.join(''), complete: true, error: null, starts: 1 });
  });

  test('another endpoint takes over after a failure that follows the comments', async () => {
    const scene = sceneOf();
    const first = scene.upstream('first');
    first.script(opened(begun(stage)), stage.first.error(401));
    scene.upstream('second').script(sound(stage, 'second'));
    const asked = post(scene);
    const exchange = await first.arrived(1);
    clock.advance(10_100);
    const response = await asked;
    clock.impatient = true;
    exchange.cut();
    const text = await response.text();
    expect(comments(text)).toBe(1);
    const received = receive(true, text);
    expect(received).toEqual({ text: SAID.second.join(''), complete: true, error: null, starts: 1 });
    expect(text).not.toContain(markOf('first'));
    const record = await recordOf(scene.gateway, response);
    expect(attemptsOf(record)).toEqual(['first failed', 'first failed', 'second completed']);
  });

  test('a failure of all endpoints is reported, also if an upstream sent it while the stream was held', async () => {
    const scene = sceneOf();
    const first = scene.upstream('first');
    first.script(opened(begun(stage)), stage.first.error(401));
    const { opening, piece } = stage.second;
    scene.upstream('second').script(opened(opening + piece('Uno')), stage.second.error(401));
    const asked = post(scene);
    const exchange = await first.arrived(1);
    clock.advance(10_100);
    const response = await asked;
    clock.impatient = true;
    exchange.chunk(stage.first.errorFrame);
    (await scene.upstream('second').arrived(1)).chunk(stage.second.errorFrame);
    const received = receive(true, await response.text());
    expect(received).toMatchObject({ text: '', complete: false });
    expect(received.error).toContain('first');
    expect(received.error).toContain('second');
  });
});
