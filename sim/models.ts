// The simulated models as data: what the catalog lists and how the brain behaves under each name. Knows
// nothing of the wire formats.
import type { ProtocolName, Quirks, ReasoningStyle } from '../src/canonical/index.ts';
import { findMisbehaviour, misbehaviours } from './misbehaviour.ts';

/** USD per million tokens. Invented, so that costs can be seen. */
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
  /** The protocol that the gateway uses; the service answers all four under every name. */
  readonly protocol: ProtocolName;
  readonly reasoningStyle: ReasoningStyle;
  /** True: reasoning cannot be switched off. */
  readonly reasoningMandatory: boolean;
  /** Efforts that are accepted; null for all. */
  readonly efforts: readonly string[] | null;
  readonly reasoningFormat: string | null;
  /** False: answers hold members that the protocol's owner does not know; they must be translated. */
  readonly faithful: boolean;
  /** How this model departs from the protocol; over the preset's own quirks. */
  readonly quirks: Partial<Quirks>;
  /** Tokens. */
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly price: SimPrice;
}

/** Traits of a model that the brain and the checkers read. */
export interface SimTraits {
  readonly name: string;
  /** `echo`: repeats the user. `full`: everything. */
  readonly brain: 'echo' | 'full';
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  /** `default`: reasons unless told not to (OpenAI's protocols only). */
  readonly reasoning: 'none' | 'default' | 'on-request' | 'mandatory';
  /** `both`: a budget or an effort over Anthropic Messages. */
  readonly thinking: 'budget' | 'both';
  /** Chat Completions as DeepSeek speaks it instead of OpenAI. */
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

/** Named models, in the order in which a person should try them. */
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
    description: 'Everything over Chat Completions; reasoning is counted but, as with OpenAI, never shown.',
    protocol: 'openai-chat',
    reasoningStyle: 'effort',
  },
  {
    ...BASE,
    name: 'responses',
    description: 'Everything over Responses: reasoning items with summaries and encrypted content.',
    protocol: 'openai-responses',
    reasoningStyle: 'effort',
    reasoningFormat: 'openai-responses-v1',
  },
  {
    ...BASE,
    name: 'messages',
    description: 'Everything over Anthropic Messages; thinking by budget or by effort.',
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
    description: 'Everything over the Gemini API: thoughts by level, and signatures that must come back.',
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
    description: 'Like DeepSeek: shows `reasoning_content` and wants it back with every tool call.',
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
    description: 'A reasoning model that takes efforts and cannot be told not to reason.',
    protocol: 'openai-responses',
    reasoningStyle: 'effort',
    reasoningMandatory: true,
    efforts: ['minimal', 'low', 'medium', 'high'],
    reasoningFormat: 'openai-responses-v1',
  },
  {
    ...BASE,
    name: 'reasoner-budget',
    description: 'A reasoning model that takes a budget and refuses efforts.',
    protocol: 'anthropic-messages',
    reasoningStyle: 'budget',
    reasoningFormat: 'anthropic-claude-v1',
    contextLength: 200_000,
  },
  {
    ...BASE,
    name: 'text-only',
    description: 'A small model without tools and without answer formats.',
    protocol: 'openai-chat',
    reasoningStyle: 'none',
    faithful: false,
    quirks: { structuredOutput: 'none', customTools: false, textContent: 'string', systemRole: 'system' },
    contextLength: 8192,
    maxOutputTokens: 2048,
  },
];

/** One listed example of each misbehaviour; other numbers work as well, see `findSimModel`. */
export const simMisbehaviours: readonly SimModel[] = misbehaviours.map((entry) => ({
  ...BASE,
  name: entry.example,
  description: entry.description,
  protocol: 'openai-chat',
  reasoningStyle: 'none',
}));

const byName = new Map([...simModels, ...simMisbehaviours].map((model) => [model.name, model]));

/** The model of a name, misbehaviours with any number included (`cut-after-7`); null when there is none. */
export function findSimModel(name: string): SimModel | null {
  const known = byName.get(name);
  if (known) return known;
  const found = findMisbehaviour(name);
  const example = found && byName.get(found.entry.example);
  return example ? { ...example, name } : null;
}

/** The name of a model in an address; '' where its escapes are broken. */
export function nameInAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/**
 * How a model behaves.
 * @param name without `sim/`
 * @returns null for a name that nothing answers to
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
    brain: name === 'echo' ? 'echo' : 'full',
    tools: !small,
    jsonSchema: !small && name !== 'deepseek',
    reasoning,
    thinking: model.reasoningStyle === 'budget' ? 'budget' : 'both',
    deepseek: name === 'deepseek',
    contextLength: model.contextLength,
  };
}
