// Memory of requests besides their bodies: answers that are collected or held back, what is fetched or
// read for them, what waits for clients who do not read. It counts for their key; another key never pays for it.
import { describe, expect, test } from 'bun:test';
import {
  CHAT_ENDING,
  CHAT_OPENING,
  chatBody,
  chatChunk,
  stream,
  whole,
} from '../../support/upstreams/answers.ts';
import { dialect } from '../../support/upstreams/dialects.ts';
import { startScene, StreamReading, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';
import { startUpstream, type Exchange } from '../../support/upstreams/scripted-upstream.ts';
import { TEST_KEY } from '../../support/harness.ts';
import { undoAfterEach } from '../../support/undo.ts';
import { eventually } from '../../support/program.ts';

const MEGABYTE = 1_048_576;
const OTHER = { authorization: 'Bearer sk-test-other' };
const keys = [
  { name: 'test', key: TEST_KEY },
  { name: 'other', key: 'sk-test-other' },
];
/** Three megabytes for a key, six for all. */
const server = { body_limit_mb: 1, memory: { bodies_mb: 6, share_per_key: 0.5 } };
/** Two fit. */
const TEXT = 'x'.repeat(MEGABYTE + 200_000);
/** Least that both hold once they are read: a part of each is too small to count. */
const TWO = 2 * (TEXT.length - 64 * 1024);

const undo = undoAfterEach();

async function start(options: Parameters<typeof startScene>[1] = {}, config: object = {}): Promise<Scene> {
  const scene = await startScene(['up'], {
    ...options,
    config: { keys, server, routing: { retries: 0 }, ...config },
  });
  undo.push(() => scene[Symbol.asyncDispose]());
  return scene;
}

async function heldBytes({ gateway }: Scene): Promise<number> {
  const facts = (await (await gateway.get('/../readyz')).json()) as { readonly held_bytes: number };
  return facts.held_bytes;
}

/** Asks until so much is held, or so little: what an upstream sends is read a moment later. */
async function untilHeld(scene: Scene, is: (bytes: number) => boolean): Promise<void> {
  // More than once in a row: what moves from one part of the work to the next counts for both for a moment.
  let inRow = 0;
  await eventually('so many bytes are held', async () => {
    inRow = is(await heldBytes(scene)) ? inRow + 1 : 0;
    return inRow === 3;
  });
}

const chat = (members: object = {}): object => ({
  model: 'one/chat',
  messages: [{ role: 'user', content: 'hi' }],
  ...members,
});

async function expectRefused(response: Response): Promise<void> {
  const text = await response.text();
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(text).toContain('memory_budget');
  expect(text).toContain('server.memory.share_per_key');
  expect(response.headers.get('x-should-retry')).toBeNull();
}

/** The other key has an answer of the usual size, and in the end nothing is held. */
async function expectServed(scene: Scene, body = chat()): Promise<void> {
  scene.upstream('up').always(whole(chatBody('Hello')));
  expect((await scene.gateway.post('/chat/completions', body, OTHER)).status).toBe(200);
}

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  test('whole responses that are being sent count for their key', async () => {
    const scene = await start({ faithful: lane === 'relay' });
    const text = JSON.stringify(chatBody(TEXT));
    const half = (exchange: Exchange): void => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
      exchange.raw(text.slice(0, -10));
    };
    const up = scene.upstream('up');
    up.always(half);
    const first = scene.gateway.post('/chat/completions', chat());
    const second = scene.gateway.post('/chat/completions', chat());
    const exchanges = [await up.arrived(1), await up.arrived(2)];
    await untilHeld(scene, (bytes) => bytes >= TWO);
    await expectRefused(await scene.gateway.post('/chat/completions', chat()));
    await expectServed(scene);

    for (const exchange of exchanges) exchange.raw(text.slice(-10));
    for (const answer of [await first, await second]) {
      expect(answer.status).toBe(200);
      expect((await answer.text()).length).toBeGreaterThan(MEGABYTE);
    }
    await untilHeld(scene, (bytes) => bytes === 0);
  });

  test('buffered streams count, and release their memory', async () => {
    const scene = await start({ faithful: lane === 'relay' });
    const up = scene.upstream('up');
    up.always((exchange) => {
      exchange.openStream();
      exchange.chunk(CHAT_OPENING);
      for (let at = 0; at < TEXT.length; at += 100_000)
        exchange.chunk(chatChunk({ content: TEXT.slice(at, at + 100_000) }));
    });
    const body = chat({ stream: true, provider: { stream_safety: 'buffer' } });
    const first = scene.gateway.post('/chat/completions', body);
    const second = scene.gateway.post('/chat/completions', body);
    const exchanges = [await up.arrived(1), await up.arrived(2)];
    await untilHeld(scene, (bytes) => bytes >= TWO);
    await expectRefused(await scene.gateway.post('/chat/completions', body));
    await expectServed(scene);

    for (const exchange of exchanges) {
      exchange.chunk(CHAT_ENDING);
      exchange.endStream();
    }
    for (const answer of [await first, await second])
      expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    await untilHeld(scene, (bytes) => bytes === 0);
  });

  test('data for clients that do not read counts', async () => {
    const scene = await start(
      { faithful: lane === 'relay' },
      { server: { body_limit_mb: 0.25, memory: { bodies_mb: 1, share_per_key: 0.25 } } },
    );
    const up = scene.upstream('up');
    const chunk = chatChunk({ content: 'x'.repeat(100_000) });
    up.always((exchange) => {
      exchange.openStream();
      exchange.chunk(CHAT_OPENING);
      for (let sent = 0; sent < 200; sent++) exchange.chunk(chunk);
    });
    const clients = [1, 2, 3, 4].map(() => new RawClient(scene.gateway.origin, chat({ stream: true })));
    for (const client of clients) {
      client.pause();
      undo.push(() => client.close());
    }
    await up.arrived(4);
    // One of them at least was more than the key may hold.
    await Promise.race(up.exchanges.map(({ closed }) => closed));
    await expectServed(scene);
  });
});

test('a kept stream that exceeds the memory limit ends with a native error', async () => {
  const scene = await start();
  const { opening, piece } = dialect('openai-responses', 'm');
  const up = scene.upstream('up');
  up.always((exchange) => {
    exchange.openStream();
    exchange.chunk(opening);
    for (let sent = 0; sent < 40; sent++) exchange.chunk(piece('x'.repeat(100_000)));
  });
  const answer = await scene.gateway.post('/responses', {
    model: 'one/responses',
    input: 'hi',
    stream: true,
  });
  expect(answer.status).toBe(200);
  const text = await new StreamReading(answer).rest();
  const last = text.trim().split('\n\n').at(-1) ?? '';
  expect(last).toContain('event: response.failed');
  expect(text).toContain('server.memory.share_per_key');
  expect(up.requests).toHaveLength(1);
  await expectServed(scene);
  await untilHeld(scene, (bytes) => bytes === 0);
});

test('a stream that is not kept can have any length', async () => {
  const scene = await start({ faithful: true });
  scene
    .upstream('up')
    .always(
      stream([
        CHAT_OPENING,
        ...Array.from({ length: 60 }, () => chatChunk({ content: 'x'.repeat(100_000) })),
        CHAT_ENDING,
      ]),
    );
  const answer = await scene.gateway.post('/chat/completions', chat({ stream: true }));
  expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
});

test('fetched content counts while its request runs', async () => {
  const site = await startUpstream();
  undo.push(() => site.stop());
  const picture = Buffer.alloc(MEGABYTE);
  picture.write('\x89PNG\r\n\x1a\n', 'latin1');
  site.always((exchange) => {
    exchange.head(200, { 'content-type': 'image/png', 'content-length': String(picture.length) });
    exchange.raw(picture);
  });
  const scene = await start(
    { quirks: { fetches_urls: false } },
    { fetch: { allow: [new URL(site.origin).host] } },
  );
  const up = scene.upstream('up');
  up.always(() => {});
  const content = [{ type: 'image_url', image_url: { url: `${site.origin}/a.png` } }];
  const body = chat({ messages: [{ role: 'user', content }] });
  const first = scene.gateway.post('/chat/completions', body);
  const second = scene.gateway.post('/chat/completions', body);
  const exchanges = [await up.arrived(1), await up.arrived(2)];
  await expectRefused(await scene.gateway.post('/chat/completions', body));
  await expectServed(scene, body);
  for (const exchange of exchanges) whole(chatBody('Hello'))(exchange);
  for (const answer of [await first, await second]) expect(answer.status).toBe(200);
  await untilHeld(scene, (bytes) => bytes === 0);
});

test('files that are read for requests count while they are answered', async () => {
  const scene = await start();
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new File([Buffer.alloc(MEGABYTE, 'a')], 'a.txt'));
  const uploaded = await fetch(`${scene.gateway.baseURL}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}` },
    body: form,
  });
  const { id } = (await uploaded.json()) as { readonly id: string };
  const up = scene.upstream('up');
  up.always(() => {});
  const body = chat({
    messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
  });
  const running = [
    scene.gateway.post('/chat/completions', body),
    scene.gateway.post('/chat/completions', body),
  ];
  const exchanges = [await up.arrived(1), await up.arrived(2)];
  await expectRefused(await scene.gateway.post('/chat/completions', body));
  for (const exchange of exchanges) whole(chatBody('Hello'))(exchange);
  for (const answer of running) expect((await answer).status).toBe(200);
  await untilHeld(scene, (bytes) => bytes === 0);
});

test('a response with an idempotency key is sent, but not kept beyond the memory limit', async () => {
  const scene = await start({ faithful: true });
  const pieces = Array.from({ length: 40 }, () => chatChunk({ content: 'x'.repeat(100_000) }));
  const up = scene.upstream('up');
  up.always(stream([CHAT_OPENING, ...pieces, CHAT_ENDING]));
  for (const requests of [1, 2]) {
    const headers = { 'idempotency-key': 'a' };
    const answer = await scene.gateway.post('/chat/completions', chat({ stream: true }), headers);
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(up.requests).toHaveLength(requests);
  }
});
