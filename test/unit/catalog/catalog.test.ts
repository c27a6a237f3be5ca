// The catalog: which model an id means, what its endpoints say, and that prices equal the library's.
import { describe, expect, test } from 'bun:test';
import { calcPrice } from '@pydantic/genai-prices';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderBundledPrices } from '../../../contrib/bundle-prices.ts';
import { BUNDLED_PRICES, buildCatalog } from '../../../src/catalog/index.ts';
import type { BuiltIn, Catalog, CatalogConfig, Price, Rate } from '../../../src/catalog/index.ts';
import { libraryModels } from '../../../src/catalog/prices.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { defineProvider, speaks } from '../../../src/catalog/providers/provider.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const ALL_KEYS = Object.fromEntries(presets.map((preset) => [preset.keyVariable ?? '', 'sk-test']));

const sim: BuiltIn = {
  preset: defineProvider({
    id: 'sim',
    name: 'sim',
    keyVariable: null,
    protocols: { 'openai-chat': speaks('http://127.0.0.1:9', { faithful: true }) },
    defaultProtocol: 'openai-chat',
    docs: 'docs/sim.md',
  }),
  models: [declared('echo')],
  find: (name) => (/^cut-after-\d+$/.test(name) ? declared(name) : null),
};

function declared(name: string): BuiltIn['models'][number] {
  return {
    name,
    protocol: 'openai-chat',
    reasoningStyle: 'effort',
    reasoningMandatory: false,
    efforts: ['low'],
    reasoningFormat: 'sim-v1',
    faithful: false,
    quirks: { textContent: 'string' },
    contextLength: 1000,
    maxOutputTokens: 100,
    price: { input: 1, output: 4 },
  };
}

function build(
  config: Partial<CatalogConfig> = {},
  environment: Record<string, string> = ALL_KEYS,
  now: () => number = () => NOW,
): Catalog {
  return buildCatalog({
    config: { providers: {}, models: [], aliases: {}, ...config },
    presets,
    sim,
    environment,
    now,
    refuse: (path, message) => {
      throw new Error(`${path}: ${message}`);
    },
  });
}

const catalog = build();

/** id as written → model id, provider, protocol, upstream name. */
test.each([
  ['openai/gpt-5', 'openai/gpt-5', 'openai', 'openai-responses', 'gpt-5'],
  ['openai/gpt-4o', 'openai/gpt-4o', 'openai', 'openai-chat', 'gpt-4o'],
  ['openai/o3', 'openai/o3', 'openai', 'openai-responses', 'o3'],
  ['openai/gpt-5-chat-latest', 'openai/gpt-5-chat-latest', 'openai', 'openai-chat', 'gpt-5-chat-latest'],
  ['openai/gpt-5-1', 'openai/gpt-5.1', 'openai', 'openai-responses', 'gpt-5.1'],
  ['openai/gpt-4o-2024-08-06', 'openai/gpt-4o-2024-08-06', 'openai', 'openai-chat', 'gpt-4o-2024-08-06'],
  ['gpt-4o-2024-08-06', 'openai/gpt-4o-2024-08-06', 'openai', 'openai-chat', 'gpt-4o-2024-08-06'],
  ['gpt-5.2-codex', 'openai/gpt-5.2-codex', 'openai', 'openai-responses', 'gpt-5.2-codex'],
  ['openai/not-yet-known', 'openai/not-yet-known', 'openai', 'openai-chat', 'not-yet-known'],
  [
    'anthropic/claude-sonnet-4.5',
    'anthropic/claude-sonnet-4-5',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5',
  ],
  [
    'anthropic/claude-sonnet-4-5',
    'anthropic/claude-sonnet-4-5',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5',
  ],
  [
    'claude-sonnet-4-5',
    'anthropic/claude-sonnet-4-5',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5',
  ],
  [
    'claude-sonnet-4.5',
    'anthropic/claude-sonnet-4-5',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5',
  ],
  [
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-sonnet-4-5-20250929',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5-20250929',
  ],
  [
    'anthropic/claude-sonnet-4.5-20250929',
    'anthropic/claude-sonnet-4-5-20250929',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-5-20250929',
  ],
  [
    'anthropic/claude-sonnet-4',
    'anthropic/claude-sonnet-4-0',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-4-0',
  ],
  [
    'claude-3.7-sonnet',
    'anthropic/claude-3-7-sonnet-latest',
    'anthropic',
    'anthropic-messages',
    'claude-3-7-sonnet-latest',
  ],
  [
    'anthropic/claude-sonnet-5.5',
    'anthropic/claude-sonnet-5-5',
    'anthropic',
    'anthropic-messages',
    'claude-sonnet-5-5',
  ],
  [
    'openrouter/anthropic/claude-sonnet-4.5',
    'openrouter/anthropic/claude-sonnet-4.5',
    'openrouter',
    'openai-chat',
    'anthropic/claude-sonnet-4.5',
  ],
  ['groq/openai/gpt-oss-120b', 'groq/openai/gpt-oss-120b', 'groq', 'openai-chat', 'openai/gpt-oss-120b'],
  ['zai/GLM-5.2', 'zai/glm-5.2', 'zai', 'openai-chat', 'glm-5.2'],
  ['fireworks/kimi-k3', 'fireworks/kimi-k3', 'fireworks', 'openai-chat', 'accounts/fireworks/models/kimi-k3'],
  ['xai/grok-4.3', 'xai/grok-4.3', 'xai', 'openai-responses', 'grok-4.3'],
  ['sim/echo', 'sim/echo', 'sim', 'openai-chat', 'echo'],
  ['sim/cut-after-7', 'sim/cut-after-7', 'sim', 'openai-chat', 'cut-after-7'],
  ['echo', 'sim/echo', 'sim', 'openai-chat', 'echo'],
])('%p means %p', (id, modelId, provider, protocol, upstream) => {
  const model = catalog.find(id);
  const endpoint = model?.endpoints[0];
  expect([model?.id, endpoint?.modelId, endpoint?.provider, endpoint?.protocol, endpoint?.model]).toEqual([
    modelId,
    modelId,
    provider,
    protocol,
    upstream,
  ]);
  expect(catalog.find(id)).toBe(model ?? null);
});

test.each([
  '',
  '/',
  'openai/',
  '/gpt-5',
  'nobody/gpt-5',
  'no-such-model',
  'sim/no-such-model',
  'x'.repeat(500),
  '__proto__',
  'constructor',
])('%p means nothing', (id) => {
  expect(catalog.find(id)).toBeNull();
});

test('a model name without a provider is ambiguous if two providers list it', () => {
  const both = build({
    providers: {
      a: { apiKey: null, protocols: {} },
      b: { protocols: { 'openai-chat': { baseUrl: 'http://b' } } },
      c: { protocols: { 'openai-chat': { baseUrl: 'http://c/' } } },
    },
    models: [
      { id: 'b/twin', endpoints: [] },
      { id: 'c/twin', endpoints: [] },
    ],
  });
  expect(both.find('twin')).toBeNull();
  expect(both.find('c/twin')?.endpoints[0]?.baseUrl).toBe('http://c');
});

test('listed ids and aliases differ from names that only resolve, and enabled providers are known', () => {
  const made = build({ aliases: { fast: 'sim/echo' } });
  const listed = ['openai/gpt-5', 'fast', 'gpt-5', 'openai/gpt-5-1', 'openai/not-yet-known', 'toString', ''];
  expect(listed.filter((id) => made.isListed(id))).toEqual(['openai/gpt-5', 'fast']);
  expect(['openai', 'sim', 'ollama', 'open', ''].filter((id) => made.hasProvider(id))).toEqual([
    'openai',
    'sim',
  ]);
  expect([made.find('sim/echo')?.builtIn, made.find('openai/gpt-5')?.builtIn]).toEqual([true, false]);
});

test('an endpoint has its configured score, otherwise that of its model', () => {
  const made = build({
    models: [
      {
        id: 'house/scored',
        quality: 0.5,
        endpoints: [
          { provider: 'sim', model: 'echo' },
          { provider: 'openai', model: 'gpt-5', quality: 0.75 },
        ],
      },
    ],
  });
  expect(made.find('house/scored')?.endpoints.map(({ quality }) => quality)).toEqual([0.5, 0.75]);
  expect(made.find('openai/gpt-5')?.endpoints[0]?.quality).toBeNull();
});

test('suggestions resemble the requested name', () => {
  expect(catalog.suggest('anthropic/claude-sonet-4-5')[0]).toBe('anthropic/claude-sonnet-4-5');
  expect(catalog.suggest('gtp-4o')).toContain('openai/gpt-4o');
  expect(catalog.suggest('zzzzzzzzzzzz')).toEqual([]);
});

test('providers are on by their variable, off by configuration, and local ones only when named', () => {
  const providersOf = (made: Catalog): string[] =>
    [...new Set(made.list().map((model) => model.endpoints[0]?.provider ?? ''))].sort();
  expect(providersOf(build({}, {}))).toEqual(['sim']);
  expect(providersOf(build({}, { GROQ_API_KEY: 'sk-test', ZAI_API_KEY: '' }))).toEqual(['groq', 'sim']);
  expect(providersOf(build({ providers: { groq: false, sim: false } }, { GROQ_API_KEY: 'sk-test' }))).toEqual(
    [],
  );
  expect(build({}, {}).find('ollama/qwen3')).toBeNull();
  const endpoint = build({ providers: { ollama: {} } }, {}).find('ollama/qwen3:0.6b')?.endpoints[0];
  expect(endpoint).toMatchObject({
    auth: null,
    model: 'qwen3:0.6b',
    baseUrl: 'http://127.0.0.1:11434/v1',
    price: null,
  });
});

test('listed models can be requested for text', () => {
  const names = catalog.list().map((model) => model.id);
  expect(names).toEqual([...names].sort());
  expect(names.filter((id) => /embedding|whisper|gpt-image|tts|moderation/.test(id))).toEqual([]);
  expect(names).not.toContain('openai/gpt-oss-120b');
});

describe('facts', () => {
  test.each([
    [
      'openai/gpt-5',
      {
        reasoningStyle: 'effort',
        reasoningMandatory: true,
        efforts: ['minimal', 'low', 'medium', 'high'],
        faithful: true,
        reasoningFormat: 'openai-responses-v1',
        maxOutputTokens: 128_000,
        contextLength: 400_000,
      },
    ],
    ['openai/gpt-5.1', { reasoningMandatory: false, efforts: ['none', 'low', 'medium', 'high'] }],
    [
      'openai/gpt-4o',
      { reasoningStyle: 'none', efforts: null, maxOutputTokens: 16_384, reasoningFormat: null },
    ],
    [
      'anthropic/claude-3-7-sonnet-latest',
      { reasoningStyle: 'budget', reasoningBudget: { min: 1024, max: null }, maxOutputTokens: 64_000 },
    ],
    ['anthropic/claude-3-5-haiku-latest', { reasoningStyle: 'none', maxOutputTokens: 8192 }],
    ['anthropic/claude-opus-4-1', { reasoningStyle: 'budget', maxOutputTokens: 32_000 }],
    ['anthropic/claude-opus-4-5', { reasoningStyle: 'both', efforts: ['low', 'medium', 'high'] }],
    [
      'anthropic/claude-opus-4-6',
      { reasoningStyle: 'effort', efforts: ['low', 'medium', 'high', 'max'], maxOutputTokens: 128_000 },
    ],
    ['anthropic/claude-fable-5-1', { reasoningStyle: 'effort', reasoningMandatory: true }],
    [
      'openrouter/anthropic/claude-sonnet-4.5',
      { reasoningStyle: 'budget', reasoningFormat: 'anthropic-claude-v1', faithful: false },
    ],
    ['openrouter/openai/gpt-5', { reasoningFormat: 'openai-responses-v1', protocol: 'openai-chat' }],
    ['openrouter/deepseek/deepseek-chat', { reasoningFormat: 'unknown' }],
    [
      'deepseek/deepseek-reasoner',
      { reasoningStyle: 'effort', reasoningMandatory: true, reasoningFormat: 'deepseek-reasoner-v1' },
    ],
    [
      'groq/openai/gpt-oss-120b',
      { reasoningStyle: 'effort', reasoningMandatory: true, efforts: ['low', 'medium', 'high'] },
    ],
    ['xai/grok-4-fast-non-reasoning', { reasoningStyle: 'none', reasoningMandatory: false }],
    [
      'sim/echo',
      {
        reasoningStyle: 'effort',
        efforts: ['low'],
        reasoningFormat: 'sim-v1',
        faithful: false,
        contextLength: 1000,
        maxOutputTokens: 100,
      },
    ],
  ])('are known for %p', (id, facts) => {
    expect(catalog.find(id)?.endpoints[0]).toMatchObject(facts);
  });

  test('the weaker of server and model decides about answer formats', () => {
    const format = (id: string): string | undefined =>
      catalog.find(id)?.endpoints[0]?.quirks.structuredOutput;
    expect([
      format('anthropic/claude-3-haiku'),
      format('anthropic/claude-haiku-4-5'),
      format('nvidia/claude-haiku-4-5'),
      format('openai/gpt-3.5-turbo'),
    ]).toEqual(['none', 'json_schema', 'none', 'json_object']);
  });

  test('parameters that a model refuses are known by protocol', () => {
    const refused = (id: string): string[] => [...(catalog.find(id)?.endpoints[0]?.unsupported ?? [])];
    expect(refused('openai/gpt-5')).toContain('temperature');
    expect(refused('openai/gpt-5')).not.toContain('webSearch');
    expect(refused('openai/gpt-4o')).toContain('webSearch');
    expect(refused('openai/gpt-4o-search-preview')).not.toContain('webSearch');
    expect(refused('anthropic/claude-opus-4-6')).not.toContain('temperature');
    expect(refused('anthropic/claude-opus-4-8')).toContain('temperature');
  });

  test("the switch of an effort-only model replaces the server's own", () => {
    const field = (id: string): string | undefined =>
      build({ providers: { vllm: {} } }).find(id)?.endpoints[0]?.quirks.reasoningField;
    expect([
      field('vllm/Qwen/Qwen3-0.6B'),
      field('vllm/openai/gpt-oss-20b'),
      field('moonshot/kimi-k2.6'),
      field('moonshot/kimi-k3'),
    ]).toEqual(['chat_template_kwargs', 'reasoning_effort', 'thinking', 'reasoning_effort']);
  });

  test('a server without a preset gets signed reasoning of its protocol', () => {
    const baseUrl = 'http://127.0.0.1:9';
    const made = build({
      providers: {
        mine: {
          protocols: {
            'anthropic-messages': { baseUrl },
            'openai-responses': { baseUrl },
            'openai-chat': { baseUrl },
          },
        },
        other: { protocols: { 'anthropic-messages': { baseUrl, reasoningFormat: 'own' } } },
      },
      models: (['anthropic-messages', 'openai-responses', 'openai-chat'] as const).map((protocol) => ({
        id: `m/${protocol}`,
        endpoints: [{ provider: 'mine', model: 'm', protocol }],
      })),
    });
    const format = (id: string): string | null | undefined => made.find(id)?.endpoints[0]?.reasoningFormat;
    expect([
      format('m/anthropic-messages'),
      format('m/openai-responses'),
      format('m/openai-chat'),
      format('other/m'),
    ]).toEqual(['anthropic-claude-v1', 'openai-responses-v1', null, 'own']);
  });

  test('the configuration takes precedence', () => {
    const made = build({
      providers: {
        vllm: {
          baseUrl: 'http://gpu:1/v1/',
          protocols: { 'openai-chat': { quirks: { messageName: false }, reasoningFormat: 'mine' } },
        },
      },
      models: [
        {
          id: 'house/model',
          contextLength: 5,
          reasoning: 'budget',
          quality: 0.5,
          endpoints: [
            { provider: 'vllm', model: 'm', quirks: { strictTools: true }, unsupported: ['seed'] },
            { provider: 'vllm', model: 'n', contextLength: 6 },
            { provider: 'vllm', model: 'n', name: 'spare' },
          ],
        },
      ],
    });
    const model = made.find('house/model');
    expect(model).toMatchObject({
      quality: 0.5,
      reasoningStyle: 'budget',
      contextLength: 5,
      ownedBy: 'house',
    });
    expect(model?.endpoints.map((e) => [e.slug, e.contextLength])).toEqual([
      ['vllm', 5],
      ['vllm/n', 6],
      ['vllm/spare', 5],
    ]);
    expect(model?.endpoints[0]).toMatchObject({
      baseUrl: 'http://gpu:1/v1',
      reasoningFormat: 'mine',
      reasoningStyle: 'budget',
    });
    expect(model?.endpoints[0]?.quirks).toMatchObject({
      messageName: false,
      strictTools: true,
      reasoningField: 'chat_template_kwargs',
    });
    expect(model?.endpoints[0]?.unsupported.has('seed')).toBe(true);
  });

  test('declarations of a built-in provider hold for its configured endpoints, in its own protocol', () => {
    const made = build({ models: [{ id: 'my/m', endpoints: [{ provider: 'sim', model: 'cut-after-3' }] }] });
    expect(made.find('my/m')?.endpoints[0]).toMatchObject({
      slug: 'sim',
      model: 'cut-after-3',
      faithful: false,
      reasoningFormat: 'sim-v1',
      price: { input: 1, output: 4, source: 'sim' },
    });
  });

  test('another address keeps only the features that the vendor serves there', () => {
    const made = build({ providers: { openai: { baseUrl: 'http://127.0.0.1:1/v1' } } });
    expect(made.find('openai/gpt-5')?.endpoints[0]).toMatchObject({
      baseUrl: 'http://127.0.0.1:1/v1',
      protocol: 'openai-responses',
      faithful: true,
    });
    const one = build({
      providers: {
        openai: { protocols: { 'openai-chat': { baseUrl: 'http://127.0.0.1:1', faithful: false } } },
      },
    });
    expect(one.find('openai/gpt-4o')?.endpoints[0]).toMatchObject({
      baseUrl: 'http://127.0.0.1:1',
      faithful: false,
    });
    expect(one.find('openai/gpt-5')?.endpoints[0]?.baseUrl).toBe('https://api.openai.com/v1');
  });
});

test('a model that its vendor lists only by a pattern is listed', () => {
  const made = build({}, { GEMINI_API_KEY: 'sk-test' });
  const ids = made.list().map(({ id }) => id);
  expect(ids).toContain('google/gemini-2.5-pro');
  expect(made.find('gemini-2.5-pro')?.endpoints[0]?.price).not.toBeNull();
  expect(ids.filter((id) => /claude|tts|live/.test(id))).toEqual([]);
});

describe('prices', () => {
  test('that come with the gateway are those of the installed version of the library: else `npm run prices`', async () => {
    const committed = readFileSync(
      join(import.meta.dir, '../../../src/catalog/bundled-prices.jsonl'),
      'utf8',
    );
    expect(committed === (await renderBundledPrices())).toBe(true);
    expect(BUNDLED_PRICES.version).toMatch(/^@pydantic\/genai-prices \d/);
  });

  const at = (rate: Rate | undefined, tokens: number): number => {
    if (rate === undefined || typeof rate === 'number') return rate ?? 0;
    return rate.steps.reduce((value, step) => (tokens > step.above ? step.rate : value), rate.base);
  };
  /** Plain arithmetic over our shape: uncached, read, written, output. */
  const cost = (price: Price, input: number, read: number, written: number, output: number): number => {
    const parent = at(price.input, input);
    const sum =
      (input - read - written) * parent +
      read * (price.cacheRead === undefined ? parent : at(price.cacheRead, input)) +
      written * (price.cacheWrite5m === undefined ? parent : at(price.cacheWrite5m, input)) +
      output * at(price.output, input);
    return sum / 1_000_000 + (price.request ?? 0);
  };

  // The library refuses nothing here, but reads a cache class without a rate as ordinary input, as we do.
  const SIZES = [1000, 200_000, 200_001, 271_999, 272_000, 900_000];
  test.each([
    'openai',
    'anthropic',
    'deepseek',
    'x-ai',
    'groq',
    'mistral',
    'moonshotai',
    'zai',
    'cerebras',
    'perplexity',
    'fireworks',
  ])('equal those of the library for %s, at every step', (priceId) => {
    let compared = 0;
    for (const model of libraryModels(priceId, () => NOW)) {
      const price = model.price();
      if (!price || price.outputReasoning !== undefined) continue;
      for (const input of SIZES) {
        const usage = {
          input_tokens: input,
          cache_read_tokens: 300,
          cache_write_tokens: 200,
          output_tokens: 777,
        };
        const theirs = calcPrice(usage, model.name, { providerId: priceId, timestamp: new Date(NOW) });
        expect(cost(price, input, 300, 200, 777)).toBeCloseTo(theirs?.total_price ?? Number.NaN, 9);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(10);
  });

  test('that depend on the hour change with the clock', () => {
    let now = Date.UTC(2026, 10, 20, 12);
    const endpoint = build({}, ALL_KEYS, () => now).find('deepseek/deepseek-v4-flash')?.endpoints[0];
    const quiet = endpoint?.price?.input;
    now = Date.UTC(2026, 10, 20, 2);
    expect([quiet, endpoint?.price?.input]).toEqual([0.22, 0.44]);
  });

  test('that are unknown are null', () => {
    expect(catalog.find('openai/not-yet-known')?.endpoints[0]?.price).toBeNull();
    expect(catalog.find('nvidia/anything')?.endpoints[0]?.price).toBeNull();
    // Nobody inherits a vendor's list prices by a similar name.
    const made = build({
      providers: { 'my-openai': { protocols: { 'openai-chat': { baseUrl: 'http://x' } } } },
    });
    expect(made.find('my-openai/gpt-4o')?.endpoints[0]?.price).toBeNull();
  });
});
