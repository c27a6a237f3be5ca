// Upstreams that do not end what they began: errors that drip, and answers behind which something follows for ever. Neither
// the client waits for it, nor does the gateway read it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { CHAT_ENDING, CHAT_OPENING, chatBody, chatChunk } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import type { Exchange } from '../../support/upstreams/scripted-upstream.ts';

const clock = new ArmedClock();
const scenes: { relay?: Scene; translate?: Scene } = {};
beforeAll(async () => {
  const config = { routing: { retries: 0 } };
  scenes.relay = await startScene(['up'], { clock, faithful: true, config });
  scenes.translate = await startScene(['up'], { clock, config });
});
afterEach(() => clock.advance(600_000));
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const JUNK = 'x'.repeat(16_384);

/** Goes on as long as somebody reads. */
function flood(exchange: Exchange): void {
  let isOpen = true;
  void exchange.closed.then(() => (isOpen = false));
  const write = (): void => {
    if (isOpen && exchange.unsentBytes < 1_048_576) exchange.chunk(JUNK);
    if (isOpen) setImmediate(write);
  };
  write();
}

const body = (stream: boolean): object => ({
  model: 'one/chat',
  messages: [{ role: 'user', content: 'hi' }],
  stream,
});

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  const sceneOf = (): Scene => {
    const scene = scenes[lane];
    if (!scene) throw new Error('no scene');
    return scene;
  };

  test('an error whose body arrives slowly is reported ten seconds after its headers', async () => {
    const scene = sceneOf();
    const up = scene.upstream('up');
    up.script((exchange) => {
      exchange.head(429, {
        'content-type': 'application/json',
        'content-length': '1000',
        'retry-after': '7',
      });
      exchange.raw('{"error":');
    });
    const asked = scene.gateway.post('/chat/completions', body(false));
    const exchange = await up.arrived(1);
    let isReported = false;
    void asked.then(() => (isReported = true));
    for (let second = 0; second < 9; second += 3) {
      exchange.raw(' ');
      // Behind it: by then the piece was read.
      await (await scene.gateway.get('/files')).text();
      clock.advance(3_000);
    }
    expect(isReported).toBe(false);
    clock.advance(2_000);
    const answer = await asked;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
    await exchange.closed;
  });

  test('data after a complete stream is not read', async () => {
    const scene = sceneOf();
    const up = scene.upstream('up');
    up.script((exchange) => {
      exchange.openStream();
      exchange.chunk(CHAT_OPENING + chatChunk({ content: 'Hello' }) + CHAT_ENDING);
      flood(exchange);
    });
    const answer = await scene.gateway.post('/chat/completions', body(true));
    expect(await answer.text()).toEndWith('data: [DONE]\n\n');
    // No time passes.
    await (
      await up.arrived(1)
    ).closed;
  });

  test.each(['floods', 'is silent'])(
    'a compressed stream is complete with its last event: data that follows %s',
    async (what) => {
      const scene = sceneOf();
      const up = scene.upstream('up');
      up.script((exchange) => {
        exchange.openStream({ 'content-encoding': 'gzip' });
        exchange.chunk(gzipSync(CHAT_OPENING + chatChunk({ content: 'Hello' }) + CHAT_ENDING));
      });
      const answer = await scene.gateway.post('/chat/completions', body(true));
      expect(await answer.text()).toEndWith('data: [DONE]\n\n');
      const exchange = await up.arrived(1);
      if (what === 'floods') flood(exchange);
      else clock.advance(3_000);
      await exchange.closed;
    },
  );

  test('a compressed whole response with extra data after it is damaged', async () => {
    const scene = sceneOf();
    const up = scene.upstream('up');
    up.script((exchange) => {
      exchange.openStream({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
      exchange.chunk(gzipSync(JSON.stringify(chatBody('Hello'))));
      flood(exchange);
    });
    const answer = await scene.gateway.post('/chat/completions', body(false));
    expect([answer.status, await answer.text()]).toEqual([
      502,
      expect.stringContaining('gzip data are corrupt'),
    ]);
    await (
      await up.arrived(1)
    ).closed;
  });
});
