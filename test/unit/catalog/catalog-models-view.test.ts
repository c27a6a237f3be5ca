// Bodies of the model list: OpenAI's keys as its SDK types them, prices as arrays with conditions, OpenRouter's names.
import { expect, test } from 'bun:test';
import type OpenAI from 'openai';
import { autoEntry, buildCatalog, encodeModel, encodeModelList, isAuto } from '../../../src/catalog/index.ts';
import type { CatalogConfig } from '../../../src/catalog/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';

const config: CatalogConfig = {
  providers: { vllm: {} },
  models: [
    {
      id: 'house/free',
      displayName: 'House',
      quality: 1,
      price: { input: 0, output: 0 },
      endpoints: [{ provider: 'vllm', model: 'm' }],
    },
    {
      id: 'house/unknown',
      inputModalities: ['text', 'image'],
      endpoints: [{ provider: 'vllm', model: 'm' }],
    },
  ],
  aliases: {},
};
const catalog = buildCatalog({
  config,
  presets,
  sim: null,
  environment: { OPENAI_API_KEY: 'sk-test', ANTHROPIC_API_KEY: 'sk-test' },
  now: () => Date.UTC(2026, 10, 21),
  refuse: (path, message) => {
    throw new Error(`${path}: ${message}`);
  },
});

/** A listed model as a client reads it. */
function view(id: string): Record<string, unknown> {
  const model = catalog.find(id);
  if (!model) throw new Error(`no ${id}`);
  return JSON.parse(JSON.stringify(encodeModel(model))) as Record<string, unknown>;
}

test("the list is OpenAI's", () => {
  const list = JSON.parse(JSON.stringify(encodeModelList(catalog.list()))) as {
    object: string;
    data: OpenAI.Model[];
  };
  expect(list.object).toBe('list');
  expect(list.data.length).toBe(catalog.list().length);
  for (const model of list.data) {
    expect([typeof model.id, model.object, typeof model.created, typeof model.owned_by]).toEqual([
      'string',
      'model',
      'number',
      'string',
    ]);
  }
});

test('a model shows its limits, modalities and capabilities', () => {
  expect(view('openai/gpt-5')).toMatchObject({
    id: 'openai/gpt-5',
    owned_by: 'openai',
    display_name: 'GPT-5',
    input_modalities: ['text', 'image', 'file'],
    output_modalities: ['text'],
    capabilities: { reasoning: true },
    context_length: 400_000,
    top_provider: { max_completion_tokens: 128_000 },
    architecture: { modality: 'text+image+file->text' },
    endpoints: [{ slug: 'openai', provider: 'openai', protocol: 'openai-responses' }],
  });
});

test('prices are arrays, one entry per step', () => {
  const pricings = view('anthropic/claude-sonnet-4-5')['pricings'];
  expect(pricings).toMatchObject({
    prompt: [
      {
        value: 3,
        unit: 'perMTokens',
        currency: 'USD',
        conditions: { prompt_tokens: { unit: 'kTokens', lte: 200 } },
      },
      {
        value: 6,
        unit: 'perMTokens',
        currency: 'USD',
        conditions: { prompt_tokens: { unit: 'kTokens', gt: 200 } },
      },
    ],
    web_search: [{ value: 0.01, unit: 'perCount', currency: 'USD' }],
  });
  expect(view('openai/gpt-5')).toMatchObject({
    pricings: { prompt: [{ value: 1.25, unit: 'perMTokens', currency: 'USD' }] },
    pricing: {
      prompt: '0.00000125',
      completion: '0.00001',
      input_cache_read: '0.000000125',
      web_search: '0.01',
    },
  });
});

test('free is zero, and unknown is absent or what OpenRouter writes for it', () => {
  expect(view('house/free')).toMatchObject({
    display_name: 'House',
    pricings: { prompt: [{ value: 0 }] },
    pricing: { prompt: '0', completion: '0' },
  });
  expect(view('house/unknown')).toMatchObject({
    pricings: {},
    pricing: { prompt: '-1', completion: '-1' },
    input_modalities: ['text', 'image'],
  });
});

test('supported parameters are those with an effect', () => {
  const gpt5 = view('openai/gpt-5')['supported_parameters'] as string[];
  expect(gpt5).toContain('reasoning_effort');
  expect(gpt5).toContain('stop');
  expect(gpt5).not.toContain('temperature');
  expect(gpt5).not.toContain('seed');
  const gpt4o = view('openai/gpt-4o')['supported_parameters'] as string[];
  expect(gpt4o).toContain('temperature');
  expect(gpt4o).not.toContain('reasoning');
});

test('the entry that leaves the choice to the gateway shows what one of the models can do, and no price', () => {
  const auto = autoEntry(catalog.list());
  if (!auto) throw new Error('no entry');
  expect(encodeModel(auto)).toMatchObject({
    id: 'dragoman/auto',
    display_name: 'Auto',
    owned_by: 'dragoman',
    input_modalities: ['text', 'image', 'file', 'audio'],
    output_modalities: ['text'],
    capabilities: { reasoning: true },
    pricings: {},
    pricing: { prompt: '-1', completion: '-1' },
    endpoints: [],
  });
  const lengths = catalog.list().map((model) => model.contextLength ?? 0);
  expect(auto.contextLength).toBe(Math.max(...lengths));
  expect(autoEntry([])).toBeNull();
});

test('automatic choice has three names, unless a model has the name', () => {
  const names = ['dragoman/auto', 'auto', 'zenmux/auto', 'openrouter/auto', 'AUTO', 'house/free'];
  expect(names.filter((id) => isAuto(id, catalog))).toEqual(['dragoman/auto', 'auto', 'zenmux/auto']);
  const taken = buildCatalog({
    config: {
      providers: { zenmux: { protocols: { 'openai-chat': { baseUrl: 'http://127.0.0.1:9' } } } },
      models: [{ id: 'dragoman/auto', endpoints: [{ provider: 'openai', model: 'gpt-5' }] }],
      aliases: { auto: 'openai/gpt-4o' },
    },
    presets,
    sim: null,
    environment: { OPENAI_API_KEY: 'sk-test' },
    now: () => 0,
    refuse: (path, message) => {
      throw new Error(`${path}: ${message}`);
    },
  });
  expect(names.filter((id) => isAuto(id, taken))).toEqual([]);
});
