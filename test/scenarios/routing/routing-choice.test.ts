// Choice among models through the whole gateway: `model_routing_config` and `dragoman/auto`, told by the answer's `model`
// and by what the upstream was asked for.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { at, list } from '../../support/upstreams/json-path.ts';
import { chat, down, endpoint, explained, startRouting } from './routing-scene.ts';

const SMALL = 'house/small';
const LARGE = 'house/large';
const scene = await startRouting({
  routing: { task_types: { code: [LARGE, SMALL], chat: [SMALL] } },
  models: [
    {
      id: SMALL,
      context_length: 8_000,
      price: { input: 0.1, output: 0.4 },
      endpoints: [endpoint('west', { model: 'small' })],
    },
    {
      id: LARGE,
      context_length: 200_000,
      reasoning: 'effort',
      input_modalities: ['text', 'image'],
      price: { input: 10, output: 40 },
      endpoints: [endpoint('east', { model: 'large' }), endpoint('north', { model: 'large' })],
    },
  ],
});
beforeEach(() => scene.forget());
afterAll(() => scene[Symbol.asyncDispose]());

const BOTH = { available_models: [SMALL, LARGE] };
const complexity = (word: string): object => ({ task_info: { complexity: word } });
const choice = (config: object): object => ({ model_routing_config: { ...BOTH, ...config } });
const AUTO = ['dragoman/auto', 'auto', 'zenmux/auto'] as const;

/** Asks, and checks that the answer says who was asked. @returns the model */
async function chosen(body: object): Promise<unknown> {
  scene.asked.length = 0;
  const { status, json, headers } = await chat(scene, body);
  if (status !== 200) throw new Error(JSON.stringify(json));
  const model = at(json, 'model');
  expect(headers.get('x-dragoman-model')).toBe(String(model));
  expect(scene.asked).toEqual([model === SMALL ? 'west/small' : 'east/large']);
  return model;
}

describe.each(AUTO)('%s', (model) => {
  test.each([
    ['low', SMALL],
    ['high', LARGE],
  ])('complexity %s takes %s', async (word, expected) => {
    expect(await chosen({ model, ...choice(complexity(word)) })).toBe(expected);
  });

  test('estimates the complexity if the request does not give it', async () => {
    const config = choice({});
    expect(await chosen({ model, ...config })).toBe(SMALL);
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const hard = {
      messages: [{ role: 'user', content: `Tidy this.\n\`\`\`\n${'x = y; '.repeat(1500)}\n\`\`\`` }],
      tools: [tool],
      response_format: { type: 'json_object' },
    };
    const table = await explained(scene, { model, ...config, ...hard });
    expect(at(table, 'models')).toMatchObject({
      auto: true,
      complexity_estimated: true,
      complexity: 'medium',
    });
    expect(await chosen({ model, ...config, reasoning: { effort: 'high' } })).toBe(LARGE);
  });

  test('chooses a model that can serve the request', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const asking = { messages: [{ role: 'user', content: [{ type: 'text', text: 'See?' }, image] }] };
    expect(await chosen({ model, ...choice(complexity('low')), ...asking })).toBe(LARGE);
    const long = { messages: [{ role: 'user', content: 'word '.repeat(10_000) }] };
    expect(await chosen({ model, ...choice(complexity('low')), ...long })).toBe(LARGE);
  });

  test('chooses among all models with a price if there is no list', async () => {
    const { status, json } = await chat(scene, { model });
    expect([status, at(json, 'model')]).toEqual([200, SMALL]);
  });
});

describe('preference', () => {
  test.each<[string, string, object, string]>([
    ['a model by name', 'auto', { preference: LARGE, ...complexity('low') }, LARGE],
    ['a model by name over the one that is named', SMALL, { preference: LARGE }, LARGE],
    ['price', 'auto', { preference: 'price', ...complexity('high') }, SMALL],
    ['performance', 'auto', { preference: 'performance', ...complexity('low') }, LARGE],
    [
      'balanced leaves it to the complexity',
      'auto',
      { preference: 'balanced', ...complexity('high') },
      LARGE,
    ],
    ['a word over the model that is named', LARGE, { preference: 'price' }, SMALL],
  ])('%s', async (_, model, config, expected) => {
    expect(await chosen({ model, ...choice(config) })).toBe(expected);
  });
});

describe('a model that is named', () => {
  test.each<[string, object, string]>([
    ['goes first', {}, SMALL],
    ['also with a task type', { task_info: { task_type: 'chat' } }, SMALL],
    ['goes behind the choice by a complexity', complexity('high'), LARGE],
  ])('%s', async (_, config, expected) => {
    expect(await chosen({ model: SMALL, ...choice(config) })).toBe(expected);
  });

  test('fails over to the other candidates, which may be at other providers', async () => {
    scene.answer('west', down);
    const { status, json, headers } = await chat(scene, { model: SMALL, ...choice({}) });
    expect([status, at(json, 'model'), headers.get('x-dragoman-provider')]).toEqual([200, LARGE, 'east']);
    expect(scene.asked).toEqual(['west/small', 'east/large']);
  });
});

test('task types select a model of the operator', async () => {
  const task = (task_type: string, word: string): object => ({
    model: 'auto',
    model_routing_config: { task_info: { task_type, complexity: word } },
  });
  expect(await chosen(task('code', 'high'))).toBe(LARGE);
  expect(await chosen(task('code', 'low'))).toBe(SMALL);
  expect(await chosen(task('chat', 'high'))).toBe(SMALL);
});

test('free-form members are accepted and change nothing', async () => {
  const task_info = { complexity: 'high', additional_properties: { team: 'a' } };
  const config = choice({ task_info, additional_properties: { any: [1, { thing: null }] } });
  const { status, headers } = await chat(scene, { model: 'auto', ...config });
  expect([status, headers.get('x-dragoman-report')]).toEqual([200, null]);
});

test('unknown candidates are reported, and the others serve', async () => {
  const config = { available_models: ['house/tiny', SMALL] };
  const { status, json, headers } = await chat(scene, { model: 'auto', model_routing_config: config });
  expect([status, at(json, 'model')]).toEqual([200, SMALL]);
  expect(headers.get('x-dragoman-report')).toContain('model_routing_config.available_models[0]:dropped');
});

test('the same request always gets the same answer', async () => {
  const body = { model: 'auto', ...choice(complexity('medium')) };
  const tables = await Promise.all(Array.from({ length: 5 }, () => explained(scene, body)));
  expect(new Set(tables.map((table) => JSON.stringify(table))).size).toBe(1);
  expect(list(tables[0], 'candidates').map((row) => at(row, 'model'))).toContain(LARGE);
});

const CONFIG = 'model_routing_config';
test.each<[string, string, object, string]>([
  [
    'unknown models only',
    `${CONFIG}.available_models`,
    { available_models: ['house/smal'] },
    'did you mean house/small?',
  ],
  ['an empty list', `${CONFIG}.available_models`, { available_models: [] }, 'must not be empty'],
  [
    'a preference outside of the list',
    `${CONFIG}.preference`,
    { available_models: [SMALL], preference: LARGE },
    'balanced, performance, price, house/small',
  ],
  ['a complexity of no word', `${CONFIG}.task_info.complexity`, complexity('huge'), 'low, medium, high'],
  [
    'an unknown task type',
    `${CONFIG}.task_info.task_type`,
    { task_info: { task_type: 'poem' } },
    'chat, completion, code',
  ],
  [
    'embeddings',
    `${CONFIG}.task_info.task_type`,
    { task_info: { task_type: 'embedding' } },
    'POST /v1/embeddings',
  ],
])('%s: the error is a 400 that names the member and the allowed values', async (_, param, config, part) => {
  const { status, json } = await chat(scene, { model: 'auto', model_routing_config: config });
  expect([status, at(json, 'error', 'param')]).toEqual([400, param]);
  expect(at(json, 'error', 'message')).toContain(part);
  expect(scene.asked).toEqual([]);
});
