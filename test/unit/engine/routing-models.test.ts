// Which models serve a request that names them: ids with a provider behind, `models`, `model_routing_config`.
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { Report, type GatewayError } from '../../../src/canonical/index.ts';
import { resolveModelId } from '../../../src/catalog/model-index.ts';
import { build, ids, refusal, select, tiers } from '../../support/select-models.ts';

describe('the id of a model', () => {
  const catalog = build(
    {
      providers: { ollama: {} },
      aliases: { 'gpt-5:openai': 'openai/gpt-4o' },
      models: [
        {
          id: 'house/two',
          endpoints: [
            { provider: 'east', model: 'x:1' },
            { provider: 'east', model: 'y:2' },
          ],
        },
        { id: 'house/two:west', endpoints: [{ provider: 'west', model: 'z' }] },
      ],
    },
    { OPENAI_API_KEY: 'sk-test', ANTHROPIC_API_KEY: 'sk-test' },
  );
  test.each([
    ['openai/gpt-5', 'openai/gpt-5', null],
    ['openai/gpt-5:openai', 'openai/gpt-5', 'openai'],
    ['claude-sonnet-4.5:anthropic', 'anthropic/claude-sonnet-4-5', 'anthropic'],
    // A provider that does not serve it is named all the same: the plan says so.
    ['openai/gpt-5:anthropic', 'openai/gpt-5', 'anthropic'],
    ['house/two:east', 'house/two', 'east'],
    ['house/two:east/y:2', 'house/two', 'east/y:2'],
    // Listed ids and aliases first.
    ['house/two:west', 'house/two:west', null],
    ['house/two:west:west', 'house/two:west', 'west'],
    ['gpt-5:openai', 'openai/gpt-4o', null],
    // Names of models may hold colons.
    ['ollama/qwen3:0.6b', 'ollama/qwen3:0.6b', null],
    ['ollama/qwen3:0.6b:ollama', 'ollama/qwen3:0.6b', 'ollama'],
    ['openai/gpt-5:nobody', 'openai/gpt-5:nobody', null],
  ])('%p', (id, modelId, pinned) => {
    const resolved = resolveModelId(id, catalog);
    expect([resolved?.model.id, resolved?.pinned]).toEqual([modelId, pinned]);
  });

  test.each(['nobody', 'nobody:openai', ':openai', 'openai:', '', ':'.repeat(100_000)])(
    'that is unknown: %p',
    (id) => {
      expect(resolveModelId(id, catalog)).toBeNull();
    },
  );
});

describe('a request that names its model', () => {
  test('gets it, and nothing is weighed', () => {
    expect(select({ model: 'big' })).toEqual({
      choices: [{ model: tiers.find('house/large')!, reason: 'requested', score: null }],
      pinned: null,
      excluded: [],
      basis: null,
    });
  });

  test('falls back along `models`, each once', () => {
    const selection = select({
      model: 'house/small',
      models: ['big', 'house/small', 'house/large', 'odd:east'],
    });
    expect(ids(selection)).toEqual(['small', 'large', 'medium']);
    expect(selection.choices.map(({ reason }) => reason)).toEqual(['requested', 'models[0]', 'models[3]']);
    expect(selection.basis).toBeNull();
  });

  test('may not name more fallbacks than anybody needs', () => {
    const models = Array.from({ length: 101 }, (_, i) => `east/x${i}`);
    expect(refusal({ model: 'big', models })).toMatchObject({ kind: 'invalid_request', param: 'models' });
    expect(select({ model: 'big', models: models.slice(1) }).choices).toHaveLength(101);
  });

  test('can name providers after the ids', () => {
    const selection = select({
      model: 'house/small:east',
      models: ['house/large:west', 'house/medium:west'],
    });
    expect(selection.pinned).toBe('east');
    expect(
      selection.choices.map(({ model: { id, endpoints } }) => [id, endpoints.map(({ slug }) => slug)]),
    ).toEqual([
      ['house/small', ['east']],
      ['house/large', ['west']],
    ]);
    expect(selection.excluded).toEqual([
      { modelId: 'house/medium', endpoint: null, reason: 'is not served by west' },
    ]);
  });

  test('passes over a fallback that the key may not use', () => {
    const selection = select(
      { model: 'house/small', models: ['house/large', 'house/medium'] },
      { mayUse: (id) => id !== 'house/large' },
    );
    expect(ids(selection)).toEqual(['small', 'medium']);
    expect(selection.excluded).toEqual([
      { modelId: 'house/large', endpoint: null, reason: 'not allowed for this API key' },
    ]);
  });

  test('may end with the choice of the gateway', () => {
    const selection = select({ model: 'house/large', models: ['dragoman/auto'] });
    expect(ids(selection)).toEqual(['large', 'small', 'medium']);
    expect(selection.basis).toBeNull();
  });
});

describe('refused', () => {
  const MODELS = 'model_routing_config.available_models';
  test.each<[string, JsonObject, Partial<GatewayError>, RegExp]>([
    [
      'an unknown model',
      { model: 'house/smal' },
      { kind: 'not_found', param: 'model', code: 'model_not_found' },
      /"house\/smal" does not exist\. Did you mean house\/small/,
    ],
    [
      'an unknown provider in front',
      { model: 'nobody/x:east' },
      { kind: 'not_found', param: 'model' },
      /GET \/v1\/models lists the models/,
    ],
    [
      'a provider behind it that is not on',
      { model: 'house/small:openai' },
      { kind: 'not_found', param: 'model' },
      /house\/small does, but the provider "openai" is not enabled/,
    ],
    [
      'a choice whose options exclude all endpoints',
      { model: 'auto', provider: { only: ['sim'] } },
      { kind: 'unsupported', param: 'provider.only' },
      /excluded by provider\.only \(3\)/,
    ],
    [
      'an unknown fallback',
      { model: 'house/small', models: ['big', 'house/larg'] },
      { kind: 'invalid_request', param: 'models[1]' },
      /^models\[1\]: .*Did you mean house\/large/,
    ],
    [
      'a list of unknown models',
      { model: 'house/small', model_routing_config: { available_models: ['house/smal', 'nobody'] } },
      { kind: 'invalid_request', param: MODELS },
      /none of these models exists; did you mean house\/small/,
    ],
    [
      'a preference outside of the list',
      {
        model: 'auto',
        model_routing_config: { available_models: ['house/small', 'big'], preference: 'house/medium' },
      },
      { kind: 'invalid_request', param: 'model_routing_config.preference' },
      /allowed: balanced, performance, price, house\/small, house\/large$/,
    ],
    [
      'a preference for nothing known',
      { model: 'auto', model_routing_config: { preference: 'cheapest' } },
      { kind: 'invalid_request', param: 'model_routing_config.preference' },
      /any model of GET \/v1\/models/,
    ],
    [
      'embeddings on a text endpoint',
      { model: 'house/small', model_routing_config: { task_info: { task_type: 'embedding' } } },
      { kind: 'invalid_request', param: 'model_routing_config.task_info.task_type' },
      /POST \/v1\/embeddings/,
    ],
    [
      'an unknown task type',
      { model: 'auto', model_routing_config: { task_info: { task_type: 'toString' } } },
      { kind: 'invalid_request', param: 'model_routing_config.task_info.task_type' },
      /must be one of chat, completion, code$/,
    ],
    [
      'a choice among models that cannot serve the request',
      {
        model: 'auto',
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] },
        ],
      },
      { kind: 'unsupported', param: 'model' },
      /does not support audio input/,
    ],
  ])('%s', (_, body, facts, message) => {
    const error = refusal(body, { taskTypes: { code: ['house/large'] } });
    expect(error).toMatchObject(facts);
    expect(error.message).toMatch(message);
  });

  test('if no model supports the reasoning, the chosen model reports it', () => {
    const body = {
      model: 'auto',
      reasoning: { effort: 'high' },
      model_routing_config: { available_models: ['house/medium'] },
    };
    expect(select(body).choices.map(({ model }) => model.id)).toEqual(['house/medium']);
  });

  test('a model that the key may not use', () => {
    const mayUse = (id: string): boolean => id === 'house/small';
    const facts = { kind: 'permission', param: 'model', code: 'model_not_allowed' };
    expect(refusal({ model: 'house/large' }, { mayUse })).toMatchObject(facts);
    const config = { available_models: ['house/medium', 'big'] };
    expect(refusal({ model: 'auto', model_routing_config: config }, { mayUse })).toMatchObject(facts);
    expect(refusal({ model: 'auto' }, { mayUse: () => false })).toMatchObject(facts);
    expect(refusal({ model: 'house/small', models: ['auto'] }, { mayUse: () => false })).toMatchObject(facts);
  });
});

describe('model_routing_config', () => {
  const all = { available_models: ['house/small', 'house/medium', 'house/large'] };
  /** model, config without the list → order */
  test.each<[string, JsonObject, string]>([
    ['dragoman/auto', { task_info: { complexity: 'low' } }, 'small medium large'],
    ['dragoman/auto', { task_info: { complexity: 'medium' } }, 'medium large small'],
    ['dragoman/auto', { task_info: { complexity: 'high' } }, 'large medium small'],
    ['dragoman/auto', { preference: 'price' }, 'small medium large'],
    ['dragoman/auto', { preference: 'performance' }, 'large medium small'],
    // `hello` is simple.
    ['dragoman/auto', { preference: 'balanced' }, 'small medium large'],
    ['dragoman/auto', {}, 'small medium large'],
    // A strategy says more than a complexity.
    ['dragoman/auto', { preference: 'price', task_info: { complexity: 'high' } }, 'small medium large'],
    ['dragoman/auto', { preference: 'balanced', task_info: { complexity: 'high' } }, 'large medium small'],
    // A preferred model goes first, by any of its names.
    ['dragoman/auto', { preference: 'big', task_info: { complexity: 'low' } }, 'large small medium'],
    ['house/small', { preference: 'house/large' }, 'large medium small'],
    ['house/small', { preference: 'house/small', task_info: { complexity: 'high' } }, 'small large medium'],
    // A named model goes first, unless it is said how to choose.
    ['house/small', {}, 'small medium large'],
    ['house/large', {}, 'large medium small'],
    ['house/large', { task_info: { task_type: 'chat' } }, 'large medium small'],
    ['house/large', { task_info: { complexity: 'low' } }, 'small medium large'],
    ['house/small', { preference: 'performance' }, 'large medium small'],
  ])('orders the models of %s with %j', (name, config, order) => {
    const selection = select({ model: name, model_routing_config: { ...all, ...config } });
    expect(ids(selection).join(' ')).toBe(order);
    expect(selection.basis?.['auto']).toBe(name === 'dragoman/auto');
    for (const { score } of selection.choices) {
      expect(score).toBeGreaterThan(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  test('the named model is a candidate besides those that are listed', () => {
    const config = { available_models: ['house/large'], task_info: { complexity: 'low' } };
    expect(ids(select({ model: 'house/small', model_routing_config: config }))).toEqual(['small', 'large']);
  });

  test('`models` come after the choice', () => {
    const config = { available_models: ['house/large', 'house/small'], task_info: { complexity: 'low' } };
    const selection = select({
      model: 'auto',
      models: ['big', 'house/medium'],
      model_routing_config: config,
    });
    expect(ids(selection)).toEqual(['small', 'large', 'medium']);
  });

  test('unknown candidates are reported, and left out', () => {
    const config = { available_models: ['house/tiny', 'house/small'] };
    const report = new Report();
    const selection = select({ model: 'auto', model_routing_config: config }, { report });
    expect(ids(selection)).toEqual(['small']);
    expect(selection.excluded).toEqual([{ modelId: 'house/tiny', endpoint: null, reason: 'no such model' }]);
    expect(report.header()).toBe('model_routing_config.available_models[0]:dropped');
  });

  test('a named model is tried even if no candidate matches', () => {
    const selection = select({
      model: 'house/small',
      reasoning: { effort: 'high' },
      model_routing_config: { available_models: ['house/medium'] },
    });
    expect(ids(selection)).toEqual(['small']);
    expect(selection.excluded.map(({ modelId }) => modelId)).toEqual(['house/small', 'house/medium']);
  });

  test('a candidate may name its provider', () => {
    const config = { available_models: ['house/small:east', 'house/large:west'], preference: 'performance' };
    expect(select({ model: 'auto', model_routing_config: config })).toMatchObject({
      pinned: 'west',
      choices: [{ model: { id: 'house/large' } }, { model: { id: 'house/small' } }],
    });
    const none = { available_models: ['house/small', 'house/medium:west'] };
    const selection = select({ model: 'auto', model_routing_config: none });
    expect(ids(selection)).toEqual(['small']);
    expect(selection.excluded[0]?.reason).toBe('is not served by west');
  });

  test('the task types of the operator define the candidates of an open choice', () => {
    const taskTypes = { code: ['house/large', 'house/medium'], chat: ['house/small'] };
    const order = (body: JsonObject): string[] => ids(select(body, { taskTypes }));
    const task = (type: string): JsonObject => ({ task_info: { task_type: type } });
    expect(order({ model: 'auto', model_routing_config: task('code') })).toEqual(['medium', 'large']);
    expect(order({ model: 'auto', model_routing_config: task('chat') })).toEqual(['small']);
    expect(order({ model: 'auto', model_routing_config: task('completion') })).toHaveLength(3);
    expect(order({ model: 'house/small', model_routing_config: task('code') })).toEqual(['small']);
    const listed = { ...task('code'), available_models: ['house/small'] };
    expect(order({ model: 'auto', model_routing_config: listed })).toEqual(['small']);
  });

  test('the route table shows how the model was chosen', () => {
    const config = {
      available_models: ['big', 'house/small'],
      preference: 'balanced',
      task_info: { task_type: 'chat' },
    };
    expect(select({ model: 'zenmux/auto', model_routing_config: config }).basis).toEqual({
      requested: 'zenmux/auto',
      auto: true,
      candidates: 2,
      task_type: 'chat',
      complexity: 'low',
      complexity_estimated: true,
      preference: 'balanced',
      weights: { quality: 0.15, cheapness: 0.7, speed: 0.15 },
      order: [
        {
          model: 'house/small',
          score: 0.806,
          measures: { quality: 0, cheapness: 1, speed: 0.5 },
          reason: 'quality 0.00, cheapness 1.00, speed 0.50',
        },
        {
          model: 'house/large',
          score: 0.256,
          measures: { quality: 1, cheapness: 0, speed: 0.5 },
          reason: 'quality 1.00, cheapness 0.00, speed 0.50',
        },
      ],
      excluded: {},
    });
  });
});
