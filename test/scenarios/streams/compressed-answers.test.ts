// Answers that arrive compressed although nobody asked for it: inflated no faster than they are taken, and only as far as
// they stand for an answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { CHAT_ENDING, CHAT_OPENING, chatBody, chatChunk } from '../../support/upstreams/answers.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const CODINGS: Readonly<Record<string, (data: Uint8Array) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (data) => brotliCompressSync(data, fast),
  zstd: zstdCompressSync,
};
const names = Object.keys(CODINGS);

const scenes: Partial<Record<'relay' | 'translate', Scene>> = {};
beforeAll(async () => {
  scenes.relay = await startScene(['up'], { faithful: true });
  scenes.translate = await startScene(['up']);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const body = (stream: boolean): object => ({
  model: 'one/chat',
  messages: [{ role: 'user', content: 'Hello' }],
  stream,
});

function compressed(coding: string, data: Buffer, type = 'text/event-stream'): Answer {
  return (exchange) => {
    exchange.head(200, {
      'content-type': type,
      'content-encoding': coding,
      'content-length': String(data.length),
    });
    exchange.raw(data);
  };
}

/** Hardly to be compressed: far more than the sockets on its way can hold. */
const SAID = Array.from({ length: 4000 }, () =>
  chatChunk({ content: randomBytes(6000).toString('base64url') + 'x'.repeat(2000) }),
).join('');
const STREAM = Buffer.from(CHAT_OPENING + SAID + CHAT_ENDING);

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  test.each(['gzip', 'zstd'])(
    'a client that does not read holds inflation and the upstream up (%s)',
    async (coding) => {
      const scene = scenes[lane];
      if (!scene) throw new Error('no scene');
      const up = scene.upstream('up');
      const data = CODINGS[coding]?.(STREAM) ?? STREAM;
      up.always(compressed(coding, data));
      const slow = new RawClient(scene.gateway.origin, body(true));
      slow.pause();
      await up.arrived(1);
      const quick = new RawClient(scene.gateway.origin, body(true));
      await quick.until('data: [DONE]');
      // By now all of the first answer could have been inflated, had anybody been there to take it.
      expect(up.exchanges[0]?.unsentBytes).toBeGreaterThan(0);
      slow.resume();
      await slow.until('data: [DONE]');
      expect(slow.received).toBeGreaterThan(STREAM.length * 0.9);
      for (const client of [slow, quick]) client.close();
    },
  );

  test.each(names)('a stream that inflates without measure ends in an error (%s)', async (coding) => {
    const scene = scenes[lane];
    if (!scene) throw new Error('no scene');
    const bomb = CHAT_OPENING + chatChunk({ content: 'Hello' }) + `: ${'x'.repeat(1000)}\n\n`.repeat(16_000);
    const data = CODINGS[coding]?.(Buffer.from(bomb)) ?? Buffer.alloc(0);
    scene.upstream('up').always(compressed(coding, data));
    const response = await scene.gateway.post('/chat/completions', body(true));
    // Not all of it: a failure would print megabytes.
    const text = (await response.text()).slice(-1000);
    expect(text).toContain('expand to more than 200 times');
    expect(text).not.toContain('[DONE]');
  });

  test.each(names)('a whole response that inflates without measure ends in an error (%s)', async (coding) => {
    const scene = scenes[lane];
    if (!scene) throw new Error('no scene');
    const data = CODINGS[coding]?.(Buffer.alloc(16 * 1_048_576, ' ')) ?? Buffer.alloc(0);
    scene.upstream('up').always(compressed(coding, data, 'application/json'));
    const response = await scene.gateway.post('/chat/completions', body(false));
    expect(response.status).toBe(502);
    expect(await response.text()).toContain('expand to more than 200 times');
  });
});

test('a frame that requires a window of 128 MB is refused', async () => {
  const scene = scenes.translate;
  if (!scene) throw new Error('no scene');
  const answer = Buffer.concat([
    Buffer.from(JSON.stringify(chatBody('Hello'))),
    Buffer.alloc(9_000_000, ' '),
  ]);
  const data = zstdCompressSync(answer, { params: { [constants.ZSTD_c_windowLog]: 27 } });
  scene.upstream('up').always(compressed('zstd', data, 'application/json'));
  const response = await scene.gateway.post('/chat/completions', body(false));
  expect(response.status).toBe(502);
  expect(at(await response.json(), 'error', 'message')).toContain('data are corrupt');
});
