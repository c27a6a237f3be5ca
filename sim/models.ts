// The simulated models as data: entries of the catalog, and the behaviour of each model.
import type { ProtocolName, Quirks, ReasoningStyle } from '../src/canonical/index.ts';
import { findMisbehaviour, misbehaviours } from './misbehaviour.ts';

/** USD per million tokens. Invented, so that costs are visible. */
export interface SimPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

export interface SimModel {
  readonly name: string;
  readonly description: string;
  /** Protocol that the gateway uses. The service itself accepts all four for every model. */
  readonly protocol: ProtocolName;
  readonly reasoningStyle: ReasoningStyle;
  /** True: reasoning cannot be switched off. */
  readonly reasoningMandatory: boolean;
  /** Accepted efforts; null: all. */
  readonly efforts: readonly string[] | null;
  readonly reasoningFormat: string | null;
  /** False: responses contain members outside the protocol's specification, so they must be translated. */
  readonly faithful: boolean;
  /** Deviations from the protocol, in addition to the preset's quirks. */
  readonly quirks: Partial<Quirks>;
  /** Tokens. */
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly price: SimPrice;
}

/** Traits of a model that `think` and the validators use. */
export interface SimTraits {
  readonly name: string;
  /** `echo`: repeats the user's text. `full`: all features. */
  readonly replies: 'echo' | 'full';
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  /** `default`: reasons unless disabled (OpenAI's protocols only). */
  readonly reasoning: 'none' | 'default' | 'on-request' | 'mandatory';
  /** `both`: Anthropic Messages with a budget or an effort. */
  readonly thinking: 'budget' | 'both';
  /** Chat Completions in DeepSeek's form instead of OpenAI's. */
  readonly deepseek: boolean;
  readonly contextLength: number;
}

const PRICE: SimPrice = { input: 1, output: 4, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 };
const BASE = {
  reasoningMandatory: false,
  efforts: null,
  reasoningFormat: null,
  faithful: true,
  quirks: {},
  contextLength: 128_000,
  maxOutputTokens: 16_384,
  price: PRICE,
} as const;

/** Named models, in the suggested order for trying them. */
export const simModels: readonly SimModel[] = [
  {
    ...BASE,
    name: 'echo',
    description: 'Repeats the last user message.',
    protocol: 'openai-chat',
    reasoningStyle: 'none',
  },
  {
    ...BASE,
    name: 'chat',
    description: 'All features of Chat Completions; reasoning is counted but never shown, as with OpenAI.',
    protocol: 'openai-chat',
    reasoningStyle: 'effort',
  },
  {
    ...BASE,
    name: 'responses',
    description: 'All features of Responses: reasoning items with summaries and encrypted content.',
    protocol: 'openai-responses',
    reasoningStyle: 'effort',
    reasoningFormat: 'openai-responses-v1',
  },
  {
    ...BASE,
    name: 'messages',
    description: 'All features of Anthropic Messages; thinking by budget or by effort.',
    protocol: 'anthropic-messages',
    reasoningStyle: 'both',
    reasoningFormat: 'anthropic-claude-v1',
    contextLength: 200_000,
  },
  {
    ...BASE,
    name: 'claude',
    description: 'Like a Claude model with extended thinking: signed thinking blocks, by budget only.',
    protocol: 'anthropic-messages',
    reasoningStyle: 'budget',
    reasoningFormat: 'anthropic-claude-v1',
    contextLength: 200_000,
    maxOutputTokens: 64_000,
  },
  {
    ...BASE,
    name: 'gemini',
    description: 'All features of the Gemini API: thoughts by level, and signatures that must be sent back.',
    protocol: 'gemini',
    reasoningStyle: 'effort',
    efforts: ['minimal', 'low', 'medium', 'high'],
    reasoningFormat: 'google-gemini-v1',
    contextLength: 1_000_000,
    maxOutputTokens: 65_536,
  },
  {
    ...BASE,
    name: 'deepseek',
    description: 'Like DeepSeek: returns `reasoning_content` and requires it back with every tool call.',
    protocol: 'openai-chat',
    reasoningStyle: 'effort',
    reasoningFormat: 'deepseek-reasoner-v1',
    faithful: false,
    quirks: {
      maxTokensField: 'max_tokens',
      systemRole: 'system',
      reasoningReplay: 'reasoning_content',
      streamUsage: 'always',
      structuredOutput: 'json_object',
      customTools: false,
    },
  },
  {
    ...BASE,
    name: 'reasoner-effort',
    description: 'A reasoning model with efforts, whose reasoning cannot be switched off.',
    protocol: 'openai-responses',
    reasoningStyle: 'effort',
    reasoningMandatory: true,
    efforts: ['minimal', 'low', 'medium', 'high'],
    reasoningFormat: 'openai-responses-v1',
  },
  {
    ...BASE,
    name: 'reasoner-budget',
    description: 'A reasoning model with a budget, which rejects efforts.',
    protocol: 'anthropic-messages',
    reasoningStyle: 'budget',
    reasoningFormat: 'anthropic-claude-v1',
    contextLength: 200_000,
  },
  {
    ...BASE,
    name: 'text-only',
    description: 'A small model without tools and response formats.',
    protocol: 'openai-chat',
    reasoningStyle: 'none',
    faithful: false,
    quirks: { structuredOutput: 'none', customTools: false, textContent: 'string', systemRole: 'system' },
    contextLength: 8192,
    maxOutputTokens: 2048,
  },
];

/** One example per fault. Other numbers also work, see `findSimModel`. */
export const simMisbehaviours: readonly SimModel[] = misbehaviours.map((entry) => ({
  ...BASE,
  name: entry.example,
  description: entry.description,
  protocol: 'openai-chat',
  reasoningStyle: 'none',
}));

const byName = new Map([...simModels, ...simMisbehaviours].map((model) => [model.name, model]));

/** Finds a model by name, including faults with any number (`cut-after-7`); null if there is none. */
export function findSimModel(name: string): SimModel | null {
  const known = byName.get(name);
  if (known) return known;
  const found = findMisbehaviour(name);
  const example = found && byName.get(found.entry.example);
  return example ? { ...example, name } : null;
}

/** Model name in a path; '' if its escapes are invalid. */
export function nameInAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/**
 * Traits of a model.
 * @param name without `sim/`
 * @returns null if there is no such model
 */
export function simTraits(name: string): SimTraits | null {
  const model = findSimModel(name);
  if (!model) return null;
  const small = name === 'text-only' || name === 'echo';
  const misbehaves = findMisbehaviour(name) !== null;
  let reasoning: SimTraits['reasoning'] = 'default';
  if (small) reasoning = 'none';
  else if (misbehaves) reasoning = 'on-request';
  else if (model.reasoningMandatory) reasoning = 'mandatory';
  return {
    name,
    replies: name === 'echo' ? 'echo' : 'full',
    tools: !small,
    jsonSchema: !small && name !== 'deepseek',
    reasoning,
    thinking: model.reasoningStyle === 'budget' ? 'budget' : 'both',
    deepseek: name === 'deepseek',
    contextLength: model.contextLength,
  };
}
