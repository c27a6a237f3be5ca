// Lessons from refusals of endpoints, and who is asked next: contexts that are smaller than declared, and pauses
// that are worth waiting for. And names that mean an endpoint, or a provider that is off.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { whole, chatError } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { chat, endpoint, explained, slugs, startRouting, type RoutingScene } from './routing-scene.ts';

const tooLong = (message: string): ReturnType<typeof whole> =>
  whole({ error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } }, 400);
const STATED = "This model's maximum context length is 900 tokens. However, your messages resulted in 1200.";

describe('an endpoint that refuses a prompt within its declared context', () => {
  let scene: RoutingScene;
  const context = (east: number, west: number, north: number): object => ({
    id: `house/${east}-${west}-${north}`,
    endpoints: [
      endpoint('east', { context_length: east }),
      endpoint('west', { context_length: west }),
      endpoint('north', { context_length: north }),
    ],
  });
  beforeAll(async () => {
    scene = await startRouting({
      models: [context(8000, 8000, 200), context(8001, 8001, 8001), context(300, 300, 9000)],
    });
  });
  beforeEach(() => scene.forget());
  afterAll(() => scene[Symbol.asyncDispose]());
  // About a thousand tokens.
  const long = [{ role: 'user', content: 'word '.repeat(800) }];

  test('is followed by endpoints with the same or a larger context, and by no smaller one', async () => {
    scene.answer('east', tooLong('too long'));
    scene.answer('west', tooLong('too long'));
    const { status, json } = await chat(scene, { model: 'house/8000-8000-200', messages: long });
    expect(scene.asked).toEqual(['east', 'west']);
    expect([status, at(json, 'error', 'code')]).toEqual([400, 'context_length_exceeded']);
  });

  test('comes last from then on, with the reason in the table, until it serves a longer prompt', async () => {
    scene.answer('east', tooLong(STATED));
    const body = { model: 'house/8001-8001-8001', messages: long };
    expect((await chat(scene, body)).status).toBe(200);
    expect(scene.asked).toEqual(['east', 'west']);
    const table = await explained(scene, body);
    expect(slugs(table)).toEqual(['west', 'north', 'east']);
    expect(at(table, 'candidates', 2)).toMatchObject({
      context_length: 900,
      context_learned: true,
      reason: 'unavailable: it has rejected more than 900 tokens',
    });
    expect(at(table, 'candidates', 0)).toMatchObject({ context_length: 8001, context_learned: false });
    // A request that is short enough goes there as before.
    expect(slugs(await explained(scene, { model: 'house/8001-8001-8001' }))).toEqual([
      'east',
      'west',
      'north',
    ]);
  });

  test('that states its smaller context is followed only by larger ones', async () => {
    scene.answer('east', tooLong('too long'));
    expect((await chat(scene, { model: 'house/300-300-9000', messages: long })).status).toBe(200);
    expect(scene.asked).toEqual(['east', 'north']);
  });
});

describe('an endpoint that asks for a pause', () => {
  const models = [{ id: 'house/m', endpoints: [endpoint('east'), endpoint('west')] }];
  const ask = async (scene: RoutingScene, seconds: string): Promise<readonly string[]> => {
    let refused = false;
    scene.forget();
    // Waits of the gateway's start, not of a request.
    scene.clock.waits.length = 0;
    scene.answer('east', (exchange) => {
      if (refused)
        return whole({ choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] })(
          exchange,
        );
      refused = true;
      chatError(429, { 'retry-after': seconds })(exchange);
      // The pause begins when the refusal has been read.
      void scene.clock.armed().then(() => scene.clock.advance(5_000));
    });
    const { status } = await chat(scene, { model: 'house/m' });
    expect(status).toBe(200);
    return scene.asked;
  };

  test('is waited for up to five seconds if the operator configures it', async () => {
    await using scene = await startRouting({ models, routing: { rate_limited: 'wait' } });
    expect(await ask(scene, '2')).toEqual(['east', 'east']);
    expect(scene.clock.waits).toEqual([2000]);
    expect(await ask(scene, '6')).toEqual(['east', 'west']);
    expect(scene.clock.waits).toEqual([]);
  });

  test('is skipped otherwise', async () => {
    await using scene = await startRouting({ models });
    expect(await ask(scene, '2')).toEqual(['east', 'west']);
  });
});

test('an endpoint without a name is named after the model of its provider', async () => {
  await using scene = await startRouting({
    models: [
      {
        id: 'house/m',
        endpoints: [endpoint('east', { model: 'text' }), endpoint('west', { model: 'text' })],
      },
    ],
  });
  const providers = ['west/text'];
  await chat(scene, { model: 'house/m', provider: { routing: { type: 'priority', providers } } });
  expect(scene.asked).toEqual(['west/text']);
});

test('the error for a model of a disabled provider says how to enable it', async () => {
  await using scene = await startRouting({ providers: { groq: false } });
  for (const [model, remedy] of [
    ['openai/gpt-5', 'the provider openai is disabled; set OPENAI_API_KEY, or add it to `providers`'],
    ['vllm/anything', 'the provider vllm is disabled; add it to `providers`'],
    ['groq/llama', 'the provider groq is disabled; '],
  ] as const) {
    const { status, json } = await chat(scene, { model });
    expect([status, at(json, 'error', 'code')]).toEqual([404, 'model_not_found']);
    expect(at(json, 'error', 'message')).toContain(remedy);
  }
});
