// A connection that the upstream closes just as the next request goes out over it: the request is sent again over a fresh
// one, and whoever reads the records learns that the upstream may have received it twice.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatBody, chatStream, stream, whole } from '../../support/upstreams/answers.ts';
import {
  attemptsOf,
  recordOf,
  startScene,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const VECTORS = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'm' };

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(['up', 'other'], {
      faithful: lane === 'relay',
      config: {
        routing: { retries: 0 },
        models: [{ id: 'one/vectors', endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-chat' }] }],
      },
    });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test.each([
    ['a whole answer', '/chat/completions', { model: 'all/chat', messages: MESSAGES }, whole(chatBody('Hi'))],
    [
      'a stream',
      '/chat/completions',
      { model: 'all/chat', messages: MESSAGES, stream: true },
      stream(chatStream('Hi')),
    ],
    ['embeddings', '/embeddings', { model: 'one/vectors', input: 'Hi' }, whole(VECTORS)],
  ] as const)('%s is requested again, and each request is an attempt', async (_, path, body, answer) => {
    const up = scene.upstream('up');
    up.script(answer, (exchange) => exchange.cut(), answer);
    await (await scene.gateway.post(path, body)).text();
    const again = await scene.gateway.post(path, body);
    expect(again.status).toBe(200);
    await again.text();
    expect(up.requests).toHaveLength(3);
    expect(up.requests[1]?.connection).toBe(up.requests[0]?.connection ?? -1);
    expect(up.requests[2]?.connection).not.toBe(up.requests[0]?.connection ?? -1);
    expect(again.headers.get('x-dragoman-attempts')).toBe('2');
    const record = await recordOf(scene.gateway, again);
    expect(attemptsOf(record)).toEqual(['up failed', 'up completed']);
    expect(at(record, 'attempts', 0, 'error', 'message')).toContain(
      'failed on a reused connection (it was closed',
    );
    expect(scene.upstream('other').requests).toHaveLength(0);
  });

  test('a stale connection is not counted as a failure of the endpoint', async () => {
    const up = scene.upstream('up');
    const answer = whole(chatBody('Hi'));
    up.script(answer, (exchange) => exchange.cut(), answer);
    const body = { model: 'all/chat', messages: MESSAGES };
    for (let turn = 0; turn < 2; turn++) await (await scene.gateway.post('/chat/completions', body)).text();
    const table = (await (await scene.gateway.post('/route/explain', body)).json()) as object;
    expect(at(table as never, 'candidates', 0)).toMatchObject({ endpoint: 'up', success_rate: 1 });
  });
});
