// Reservations are whole tokens also where the expected length of an answer is a mean of earlier ones. Remainders of
// fractions would count as reserved after all requests have ended.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chatStream, opened, stream as sse } from '../../support/upstreams/answers.ts';
import { startScene, StreamReading, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { COUNTED, standings } from './limits-books.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['first'], { config: COUNTED });
});
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (): Promise<Response> =>
  scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
  });

test('running requests reserve whole tokens', async () => {
  // The expected length is known after 20 answers.
  const earlier = Array.from({ length: 20 }, () => sse(chatStream('Hel', 'lo')));
  scene.upstream('first').script(...earlier, opened(chatStream('Hel').split('data: [DONE]')[0]));
  for (const _ of earlier) await (await ask()).text();
  const running = new StreamReading(await ask());
  await running.until('Hel');
  const reserved = (await standings(scene.gateway))
    .filter((standing) => at(standing, 'unit') === 'tokens')
    .map((standing) => at(standing, 'reserved'));
  expect(reserved).toHaveLength(1);
  expect(Number(reserved[0])).toBeGreaterThan(0);
  expect(Number.isInteger(reserved[0])).toBe(true);
  await running.leave();
});
