// Asks for models as a request does: a decoded body, a real catalog, a real memory of endpoints.
import type { JsonObject } from '../../src/base/json/index.ts';
import { GatewayError, type CanonicalRequest, type Report } from '../../src/canonical/index.ts';
import { buildCatalog } from '../../src/catalog/index.ts';
import type { BuiltIn, Catalog, CatalogConfig, ModelConfig } from '../../src/catalog/index.ts';
import { findProtocol } from '../../src/protocols/index.ts';
import { presets } from '../../src/catalog/providers/index.ts';
import { defineProvider, speaks } from '../../src/catalog/providers/provider.ts';
import { TASK_FACTS } from '../../src/engine/index.ts';
import { MemoryRoutingState } from '../../src/engine/routing/memory-state.ts';
import { selectModels, type ModelSelection } from '../../src/engine/routing/model-selection.ts';
import type { PlanContext } from '../../src/engine/routing/plan-types.ts';

export const NOW = Date.UTC(2026, 10, 21, 12);

const sim: BuiltIn = {
  preset: defineProvider({
    id: 'sim',
    name: 'sim',
    keyVariable: null,
    protocols: { 'openai-chat': speaks('http://127.0.0.1:9') },
    defaultProtocol: 'openai-chat',
    docs: 'docs/sim.md',
  }),
  models: [
    {
      name: 'chat',
      protocol: 'openai-chat',
      reasoningStyle: 'effort',
      reasoningMandatory: false,
      efforts: null,
      reasoningFormat: null,
      faithful: true,
      quirks: {},
      contextLength: 128_000,
      maxOutputTokens: 16_384,
      price: { input: 0, output: 0 },
    },
  ],
};

export function build(config: Partial<CatalogConfig>, environment: Record<string, string> = {}): Catalog {
  return buildCatalog({
    config: {
      models: [],
      aliases: {},
      ...config,
      providers: {
        east: { protocols: { 'openai-chat': { baseUrl: 'http://127.0.0.1:9' } } },
        west: { protocols: { 'openai-chat': { baseUrl: 'http://127.0.0.1:9' } } },
        ...config.providers,
      },
    },
    presets,
    sim,
    environment,
    now: () => NOW,
    refuse: (path, message) => {
      throw new Error(`${path}: ${message}`);
    },
  });
}

export function model(id: string, input: number | null, extra: Partial<ModelConfig> = {}): ModelConfig {
  const price = input === null ? undefined : { input, output: 4 * input };
  return { id, price, endpoints: [{ provider: 'east', model: 'm' }], ...extra };
}

/** Three models, four times as dear each; the middle one reads images, the large one reasons. */
export const tiers = build({
  models: [
    model('house/small', 0.25, { contextLength: 8192, maxOutputTokens: 1024 }),
    model('house/medium', 1, { inputModalities: ['text', 'image'], contextLength: 100_000 }),
    model('house/large', 4, {
      reasoning: 'effort',
      endpoints: [
        { provider: 'east', model: 'm' },
        { provider: 'west', model: 'm' },
      ],
    }),
    model('house/draws', 1, { outputModalities: ['image'] }),
  ],
  aliases: { big: 'house/large', 'odd:east': 'house/medium' },
});

export interface Setting {
  readonly catalog?: Catalog;
  readonly taskTypes?: Readonly<Record<string, readonly string[]>>;
  readonly mayUse?: (id: string) => boolean;
  readonly state?: MemoryRoutingState;
  readonly report?: Report;
  readonly peek?: boolean;
}

export function memory(): MemoryRoutingState {
  return new MemoryRoutingState({
    now: () => NOW,
    breaker: () => ({ failures: 2, windowMs: 30_000, openMs: 15_000 }),
  });
}

export function decode(body: JsonObject): CanonicalRequest {
  const server = findProtocol('openai-chat')?.server;
  if (!server) throw new Error('no server side');
  return server.decodeRequest(body);
}

export function select(body: JsonObject, setting: Setting = {}): ModelSelection {
  const full = { messages: [{ role: 'user', content: 'hello' }], ...body };
  const request = decode(full);
  const context: PlanContext = {
    catalog: setting.catalog ?? tiers,
    settings: { defaults: {}, taskTypes: setting.taskTypes ?? {} },
    keyWishes: null,
    projectId: 'key',
    mayUse: setting.mayUse ?? (() => true),
    state: setting.state ?? memory(),
    nowMs: NOW,
    lacking: () => [],
    inputChars: JSON.stringify(full).length,
    report: setting.report ?? request.report,
    tasks: TASK_FACTS,
    peek: setting.peek ?? false,
  };
  return selectModels(request, context);
}

export function ids(selection: ModelSelection): string[] {
  return selection.choices.map((choice) => choice.model.id.replace('house/', ''));
}

export function refusal(body: JsonObject, setting?: Setting): GatewayError {
  try {
    select(body, setting);
  } catch (error) {
    if (GatewayError.is(error)) return error;
    throw error;
  }
  throw new Error('was not refused');
}
