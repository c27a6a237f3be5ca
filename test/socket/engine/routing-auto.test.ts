// Choice of `dragoman/auto`: who is left out, what the score prefers, and how complexity is estimated.
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { NO_USAGE } from '../../../src/canonical/index.ts';
import type { ModelConfig } from '../../../src/catalog/index.ts';
import { estimateComplexity } from '../../../src/engine/routing/complexity.ts';
import { MemoryRoutingState } from '../../../src/engine/routing/memory-state.ts';
import { AUTO_MODELS } from '../../../src/engine/routing/model-selection.ts';
import { requestFacts } from '../../../src/engine/routing/request-facts.ts';
import { startGateway } from '../../support/harness.ts';
import { NOW, build, decode, ids, model, refusal, select } from '../../support/select-models.ts';

describe('dragoman/auto', () => {
  test('has three names', () => {
    for (const name of AUTO_MODELS)
      expect(ids(select({ model: name }))).toEqual(['small', 'medium', 'large']);
    expect(AUTO_MODELS.size).toBe(3);
  });

  const image = { type: 'image_url', image_url: { url: 'https://x/y.png' } };
  /** request → the models left, and why the others are out */
  test.each<[string, JsonObject, string, Record<string, string>]>([
    ['text', {}, 'small medium large', {}],
    [
      'an image',
      { messages: [{ role: 'user', content: [image] }] },
      'medium',
      { small: 'does not support image input', large: 'does not support image input' },
    ],
    [
      'an image that a tool gave back',
      {
        messages: [
          { role: 'user', content: 'go' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: [image] },
        ],
      },
      'medium',
      { small: 'does not support image input' },
    ],
    [
      'a long prompt',
      { messages: [{ role: 'user', content: 'word '.repeat(10_000) }] },
      'medium large',
      { small: 'its context window is too small' },
    ],
    [
      'a prompt that leaves no room for the answer',
      { messages: [{ role: 'user', content: 'word '.repeat(5_900) }], max_completion_tokens: 100_000 },
      'large',
      { small: 'its context window is too small', medium: 'its context window is too small' },
    ],
    // The answer is never longer than the model can make it.
    [
      'a larger limit than the model has',
      { messages: [{ role: 'user', content: 'word '.repeat(5_000) }], max_completion_tokens: 90_000 },
      'small medium large',
      {},
    ],
    [
      'reasoning',
      { reasoning: { effort: 'low' } },
      'large',
      { small: 'cannot reason', medium: 'cannot reason' },
    ],
    ['no reasoning', { reasoning: { enabled: false } }, 'small medium large', {}],
    [
      'a provider',
      { provider: { only: ['west'] } },
      'large',
      { small: 'excluded by provider.only', medium: 'excluded by provider.only' },
    ],
    [
      'a price',
      { provider: { max_price: { prompt: 2 } } },
      'small medium',
      { large: 'excluded by provider.max_price' },
    ],
  ])('%s', (_, body, left, out) => {
    const selection = select({ model: 'auto', ...body }, { peek: true });
    expect(ids(selection).toSorted()).toEqual(left.split(' ').toSorted());
    const reasons = Object.fromEntries(
      selection.excluded.map(({ modelId, reason }) => [modelId.replace('house/', ''), reason]),
    );
    expect(reasons).toMatchObject(out);
  });

  test('does not count the bytes of an image as text', () => {
    const url = `data:image/png;base64,${'A'.repeat(4_000_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    expect(ids(select({ model: 'auto', messages: [{ role: 'user', content }] }))).toEqual(['medium']);
  });

  test('counts the excluded models, and lists them only on request', () => {
    const body = { model: 'auto', reasoning: { effort: 'low' } };
    const counts = { 'cannot reason': 2, 'does not output text': 1 };
    const running = select(body);
    expect(running.excluded).toEqual([]);
    expect(running.basis?.['excluded']).toEqual({ 'cannot reason': 2 });
    const named = ['house/small', 'house/medium', 'house/draws', 'house/large'];
    const listed = select({ ...body, model_routing_config: { available_models: named } });
    expect(listed.excluded).toHaveLength(3);
    expect(listed.basis?.['excluded']).toEqual(counts);
  });

  test('prefers any model that the key may use', () => {
    const prefers = (preference: string): JsonObject => ({
      model: 'auto',
      model_routing_config: { preference },
    });
    expect(ids(select(prefers('big')))).toEqual(['large', 'small', 'medium']);
    expect(ids(select(prefers('sim/chat')))[0]).toBe('sim/chat');
    expect(refusal(prefers('big'), { mayUse: (id) => id !== 'house/large' }).param).toBe(
      'model_routing_config.preference',
    );
  });

  test('uses simulated models only if there are no others', () => {
    expect(ids(select({ model: 'auto' }, { mayUse: (id) => id === 'sim/chat' }))).toEqual(['sim/chat']);
    expect(ids(select({ model: 'auto' }))).not.toContain('sim/chat');
  });

  test('uses superseded and special-purpose models only if no other fits', () => {
    const catalog = build({}, { ANTHROPIC_API_KEY: 'sk-test', OPENAI_API_KEY: 'sk-test' });
    const order = (body: JsonObject, mayUse?: (id: string) => boolean): string[] =>
      ids(select({ model: 'auto', ...body }, { catalog, peek: true, ...(mayUse ? { mayUse } : {}) }));
    const content = [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }];
    for (const complexity of ['low', 'medium', 'high']) {
      const config = { task_info: { complexity } };
      expect(order({ model_routing_config: config }).join(' ')).not.toMatch(
        /audio|claude-[23v]|gpt-4-|research/,
      );
    }
    expect(order({ messages: [{ role: 'user', content }] })[0]).toMatch(/audio/);
    expect(order({}, (id) => id === 'anthropic/claude-3-haiku')).toEqual(['anthropic/claude-3-haiku']);
    const { excluded } = select({ model: 'auto' }, { catalog, peek: true });
    expect(excluded).toContainEqual({
      modelId: 'openai/gpt-4-turbo',
      endpoint: null,
      reason: 'superseded, or for a special purpose',
    });
    const scored = build({ models: [model('house/gpt-4', 1, { quality: 0.1 }), model('house/b', 2)] });
    expect(ids(select({ model: 'auto' }, { catalog: scored }))).toEqual(['gpt-4', 'b']);
  });

  test('tries ten models of a large catalog at most', () => {
    const catalog = build(
      {},
      { OPENAI_API_KEY: 'sk-test', ANTHROPIC_API_KEY: 'sk-test', GROQ_API_KEY: 'sk-test' },
    );
    const selection = select({ model: 'auto' }, { catalog });
    expect(selection.choices).toHaveLength(10);
    expect(selection).toEqual(select({ model: 'auto' }, { catalog }));
  });
});

describe('the score', () => {
  const choose = (models: readonly ModelConfig[], complexity: string, state?: MemoryRoutingState): string[] =>
    ids(
      select(
        { model: 'auto', stream: true, model_routing_config: { task_info: { complexity } } },
        { catalog: build({ models }), ...(state ? { state } : {}) },
      ),
    );

  /** models → order at low, at high */
  test.each<[string, readonly ModelConfig[], string, string]>([
    ['two prices', [model('house/a', 3), model('house/b', 2)], 'b a', 'a b'],
    [
      "the operator's scores count before prices",
      [model('house/a', 3, { quality: 0.5 }), model('house/b', 2, { quality: 0.6 })],
      'b a',
      'b a',
    ],
    ['free is cheapest', [model('house/a', 0), model('house/b', 0.1), model('house/c', 9)], 'a b c', 'c b a'],
    ['an unknown price is the dearest', [model('house/a', null), model('house/b', 50)], 'b a', 'b a'],
    [
      'a model without a score is weaker than those with one',
      [model('house/a', 1, { quality: 0.2 }), model('house/b', 1)],
      'a b',
      'a b',
    ],
    ['equals stand by id', [model('house/b', 1), model('house/c', 1), model('house/a', 1)], 'a b c', 'a b c'],
    ['nothing is known', [model('house/b', null), model('house/a', null)], 'a b', 'a b'],
    [
      'the score of the model counts, whatever one of its endpoints has',
      [
        model('house/a', null, {
          quality: 0.5,
          endpoints: [{ provider: 'east', model: 'm', price: { input: 1, output: 1 }, quality: 0.9 }],
        }),
        model('house/b', 2, { quality: 0.8 }),
      ],
      'a b',
      'b a',
    ],
    [
      'the cheapest and the strongest endpoint of each count',
      [
        model('house/a', null, {
          endpoints: [
            { provider: 'east', model: 'm', price: { input: 9, output: 9 }, quality: 0.1 },
            { provider: 'west', model: 'm', price: { input: 1, output: 1 }, quality: 0.9 },
          ],
        }),
        model('house/b', 2, { quality: 0.8 }),
      ],
      'a b',
      'a b',
    ],
  ])('%s', (_, models, low, high) => {
    expect([choose(models, 'low').join(' '), choose(models, 'high').join(' ')]).toEqual([low, high]);
  });

  test('a fast model goes before its equal, and one that failed goes last', () => {
    let now = NOW;
    const breaker = { failures: 2, windowMs: 30_000, openMs: 15_000 };
    const state = new MemoryRoutingState({ now: () => now, breaker: () => breaker });
    const equals = ['house/a', 'house/b', 'house/c'].map((id) => model(id, 1));
    const run = (modelId: string, afterMs: number, failed = false): void => {
      const lease = state.begin({ modelId, slug: 'east' }, true);
      now += afterMs;
      if (!failed) lease.firstContent();
      now += 1000;
      lease.ended({
        failure: failed ? 'upstream_unavailable' : null,
        endpointsFault: failed,
        usage: failed ? null : { ...NO_USAGE, output: { ...NO_USAGE.output, text: 200 } },
      });
    };
    run('house/a', 30_000);
    run('house/c', 100);
    // An endpoint that was not measured stands between fast and slow.
    expect(choose(equals, 'medium', state)).toEqual(['c', 'b', 'a']);
    run('house/c', 1, true);
    run('house/c', 1, true);
    run('house/c', 1, true);
    expect(choose(equals, 'medium', state)).toEqual(['b', 'a', 'c']);
  });

  test('an answer format that the upstream enforces is worth something', () => {
    const loose = model('house/a', 1, {
      endpoints: [{ provider: 'east', model: 'm', quirks: { structuredOutput: 'json_object' } }],
    });
    const catalog = build({ models: [loose, model('house/b', 1)] });
    const json_schema = { name: 'x', schema: { type: 'object' } };
    const order = (body: JsonObject): string[] => ids(select({ model: 'auto', ...body }, { catalog }));
    expect(order({})).toEqual(['a', 'b']);
    expect(order({ response_format: { type: 'json_object' } })).toEqual(['a', 'b']);
    expect(order({ response_format: { type: 'json_schema', json_schema } })).toEqual(['b', 'a']);
  });
});

describe('complexity', () => {
  const say = (content: string, more: JsonObject = {}): JsonObject => ({
    model: 'auto',
    messages: [{ role: 'user', content }],
    ...more,
  });
  const tools = (count: number): JsonObject => ({
    tools: Array.from({ length: count }, (_, i) => ({ type: 'function', function: { name: `f${i}` } })),
  });
  const turns = (count: number): JsonObject => ({
    model: 'auto',
    messages: Array.from({ length: count }, (): JsonObject[] => [
      { role: 'user', content: 'and?' },
      { role: 'assistant', content: 'so.' },
    ]).flat(),
  });
  test.each<[string, JsonObject, string]>([
    ['a short question', say('What is the capital of France?'), 'low'],
    ['a page of text', say('word '.repeat(500)), 'low'],
    ['ten pages of text', say('word '.repeat(2_000)), 'medium'],
    ['a book, with instructions about code', say('word '.repeat(10_000), tools(1)), 'medium'],
    ['a long agent run', say('word '.repeat(10_000), tools(6)), 'high'],
    ['one tool', say('hello', tools(1)), 'low'],
    ['many tools', say('hello', tools(6)), 'medium'],
    ['a long conversation', turns(13), 'medium'],
    ['a short conversation', turns(5), 'low'],
    ['high effort', say('hello', { reasoning_effort: 'high' }), 'medium'],
    ['high effort and many tools', say('hello', { reasoning_effort: 'high', ...tools(6) }), 'high'],
    ['a large budget', say('hello', { reasoning: { max_tokens: 8192 } }), 'medium'],
    ['a little effort', say('hello', { reasoning_effort: 'low' }), 'low'],
    ['no effort', say('word '.repeat(500), { reasoning_effort: 'none' }), 'low'],
    ['code in a page of text', say(`${'word '.repeat(500)}\n\`\`\`js\n\`\`\``), 'medium'],
    [
      'a schema in a page of text',
      say('word '.repeat(500), {
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
      }),
      'medium',
    ],
  ])('is estimated for %s', (_, body, complexity) => {
    expect(estimateComplexity(requestFacts(decode(body), 0))).toBe(complexity as 'low');
    expect(select(body).basis?.['complexity']).toBe(complexity);
  });
});

test('complexity chooses the model, and the response names it', async () => {
  const at = (input: number): JsonObject => ({
    endpoints: [{ provider: 'sim', model: 'echo', price: { input, output: input } }],
  });
  await using gateway = await startGateway({
    models: [
      { id: 'house/cheap', ...at(1) },
      { id: 'house/dear', ...at(9) },
    ],
  });
  const ask = async (body: JsonObject): Promise<string> => {
    const messages = [{ role: 'user', content: 'hello' }];
    const answer = await gateway.post('/chat/completions', { model: 'dragoman/auto', messages, ...body });
    return ((await answer.json()) as { model: string }).model;
  };
  const config = (complexity: string): JsonObject => ({
    model_routing_config: {
      available_models: ['house/dear', 'house/cheap'],
      task_info: { task_type: 'chat', complexity },
    },
  });
  expect(await ask(config('low'))).toBe('house/cheap');
  expect(await ask(config('high'))).toBe('house/dear');
  expect(await ask({})).toBe('house/cheap');
  expect(await ask({ model: 'house/dear' })).toBe('house/dear');
  expect(await ask({ model: 'house/dear:sim' })).toBe('house/dear');
});
