// Readers of one answer who are not equally fast: what is kept lets each have its own pace, and memory has an end.
import { expect, test } from 'bun:test';
import { CHAT_ENDING, CHAT_OPENING, chatChunk } from '../../support/upstreams/answers.ts';
import { type Scene, startScene, streamedText } from '../../support/upstreams/gateway-with-upstreams.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const BODY = { model: 'one/chat', messages: [{ role: 'user', content: 'Hello' }], stream: true };
const CHUNK = chatChunk({ content: 'x'.repeat(10_000) });
const streaming = (count: number): Answer => {
  return (exchange) => {
    exchange.openStream();
    exchange.chunk(CHAT_OPENING);
    for (let sent = 0; sent < count; sent++) exchange.chunk(CHUNK);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
  };
};
const KEY = { 'idempotency-key': 'k1' };

/** Readers of one response of a number of chunks: the first does not read. */
async function twoReaders(scene: Scene, count: number) {
  const up = scene.upstream('up');
  up.always(streaming(count));
  const slow = new RawClient(scene.gateway.origin, BODY, KEY);
  slow.pause();
  await up.arrived(1);
  return { up, slow, quick: new RawClient(scene.gateway.origin, BODY, KEY) };
}

test('a slow reader delays no other reader while the response can be stored', async () => {
  const count = 1_000;
  await using scene = await startScene(['up']);
  const { up, slow, quick } = await twoReaders(scene, count);
  await quick.until('data: [DONE]');
  slow.resume();
  await slow.until('data: [DONE]');
  expect(slow.received).toBeGreaterThan(count * 10_000);
  const third = await (await scene.gateway.post('/chat/completions', BODY, KEY)).text();
  expect(streamedText(third)).toBe('x'.repeat(count * 10_000));
  expect(up.requests).toHaveLength(1);
  for (const client of [slow, quick]) client.close();
});

test('a slow reader gets the rest of a complete response while the process drains', async () => {
  const count = 1_000;
  const scene = await startScene(['up']);
  const { slow, quick } = await twoReaders(scene, count);
  await quick.until('data: [DONE]');
  const stopped = scene[Symbol.asyncDispose]();
  slow.resume();
  await slow.until('data: [DONE]');
  expect(slow.received).toBeGreaterThan(count * 10_000);
  for (const client of [slow, quick]) client.close();
  await stopped;
});

test('a slow reader sets the pace of an answer that is too long to be kept, until it leaves', async () => {
  const count = 5_000;
  await using scene = await startScene(['up']);
  const { up, slow, quick } = await twoReaders(scene, count);
  // Another answer of that length comes through meanwhile: this one could have, too.
  const other = new RawClient(scene.gateway.origin, BODY);
  await other.until('data: [DONE]');
  expect(up.exchanges[0]?.unsentBytes).toBeGreaterThan((CHUNK.length * count) / 2);
  slow.close();
  await quick.until('data: [DONE]');
  expect(quick.received).toBeGreaterThan(count * 10_000);
  expect(up.requests).toHaveLength(2);
  // It was not kept.
  const again = new RawClient(scene.gateway.origin, BODY, KEY);
  await up.arrived(3);
  for (const client of [quick, other, again]) client.close();
});
