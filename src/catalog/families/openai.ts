// Facts about OpenAI's models. Rows match canonical names; later rows are laid over earlier ones.
import type { Parameter } from '../../canonical/index.ts';
import type { FamilyRow } from './family.ts';

const OPENAI_DOCS = 'platform.openai.com: reasoning guide and model pages; 2026-11';
const OPENAI_REASONING = /^(o1|o3|o4)(-|$)|^gpt-[5-9](-|$)|^codex-/;
const OPENAI_NOT_REASONING = /^gpt-[5-9](-\d+)?-chat(-|$)|^gpt-5-3$/;
const SAMPLING: readonly Parameter[] = [
  'temperature',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'logprobs',
  'topLogprobs',
];
const VISION: readonly string[] = ['text', 'image', 'file'];

export const openaiFamilies: readonly FamilyRow[] = [
  {
    // After a trailing assistant message these models start a new answer, at any provider.
    match: /^(gpt-|chatgpt-|codex-|o[134](-|$))/,
    facts: { quirks: { prefill: 'none' } },
    source: OPENAI_DOCS,
  },
  { match: /^gpt-(3|4)|^chatgpt-/, facts: { reasoningStyle: 'none' }, source: OPENAI_DOCS },
  {
    match: /^gpt-4o|^gpt-4-1|^gpt-4-turbo|^chatgpt-4o/,
    facts: { inputModalities: VISION },
    source: OPENAI_DOCS,
  },
  { match: /audio/, facts: { inputModalities: ['text', 'audio'] }, source: OPENAI_DOCS },
  { match: /^gpt-4o|^chatgpt-4o/, facts: { maxOutputTokens: 16384 }, source: OPENAI_DOCS },
  { match: /^gpt-4-1/, facts: { maxOutputTokens: 32768 }, source: OPENAI_DOCS },
  { match: /^gpt-3-5/, facts: { maxOutputTokens: 4096 }, source: OPENAI_DOCS },
  { match: /^gpt-(3|4)|^chatgpt-/, facts: { unsupported: ['verbosity'] }, source: OPENAI_DOCS },
  {
    // In Chat Completions only the search models take `web_search_options`.
    match: /^gpt-(3|4)|^chatgpt-/,
    over: ['openai-chat'],
    facts: { unsupported: ['verbosity', 'webSearch'] },
    source: OPENAI_DOCS,
  },
  {
    match: /-search-preview/,
    over: ['openai-chat'],
    facts: {
      quirks: { searchesWeb: true },
      unsupported: [...SAMPLING, 'verbosity', 'stop', 'seed', 'parallelToolCalls'],
    },
    source: OPENAI_DOCS,
  },
  {
    match: /^gpt-3-5|^gpt-4-(turbo|vision|0125|1106)/,
    facts: { quirks: { structuredOutput: 'json_object' } },
    source: OPENAI_DOCS,
  },
  {
    match: /^gpt-4(-0314|-0613|-32k.*)?$/,
    facts: { quirks: { structuredOutput: 'none' } },
    source: OPENAI_DOCS,
  },
  {
    match: OPENAI_REASONING,
    facts: {
      reasoningStyle: 'effort',
      reasoningMandatory: true,
      efforts: ['low', 'medium', 'high'],
      unsupported: [...SAMPLING, 'stop'],
      protocol: 'openai-responses',
      maxOutputTokens: 100_000,
      detailsFormat: 'openai-responses-v1',
      inputModalities: VISION,
    },
    source: OPENAI_DOCS,
  },
  {
    match: OPENAI_REASONING,
    over: ['openai-chat'],
    facts: { unsupported: [...SAMPLING, 'stop', 'webSearch'] },
    source: OPENAI_DOCS,
  },
  {
    // The reference excludes `stop` only for o3 and o4-mini.
    match: /^o3-mini/,
    over: ['openai-chat'],
    facts: { unsupported: [...SAMPLING, 'webSearch'] },
    source: 'OpenAI API reference: Chat Completions, `stop`; 2026-11',
  },
  { match: /^(o1-mini|o1-preview|o3-mini)/, facts: { inputModalities: ['text'] }, source: OPENAI_DOCS },
  {
    // Guide "Prompt caching": `prompt_cache_breakpoint` on input parts, GPT-5.6 and later.
    match: /^gpt-(5-[6-9]|[6-9])/,
    over: ['openai-responses'],
    facts: { quirks: { cacheControl: true } },
    source: OPENAI_DOCS,
  },
  {
    // Guide "File inputs": only vision models read PDFs.
    match: /^gpt-3-5|^gpt-4(-0314|-0613|-32k.*)?$|^(o1-mini|o1-preview|o3-mini)/,
    facts: { quirks: { readsFiles: false } },
    source: OPENAI_DOCS,
  },
  {
    // Guide "Function calling": custom tools came with GPT-5; codex gives functions to other families instead.
    match: /^gpt-(3|4|oss)|^chatgpt-|^o[134](-|$)|^codex-/,
    facts: { quirks: { customTools: false } },
    source: OPENAI_DOCS,
  },
  {
    // The recorded 400 says that o1-mini supports neither system nor developer messages; it has no Responses API
    // either.
    match: /^(o1-mini|o1-preview)/,
    facts: { protocol: 'openai-chat', efforts: [], maxOutputTokens: 65_536 },
    source: 'recorded responses 2024-09',
  },
  {
    match: /^gpt-[5-9](-|$)/,
    facts: { efforts: ['minimal', 'low', 'medium', 'high'], maxOutputTokens: 128_000 },
    source: OPENAI_DOCS,
  },
  { match: /^gpt-5-codex/, facts: { efforts: ['low', 'medium', 'high'] }, source: OPENAI_DOCS },
  {
    match: /^gpt-5-1(-|$)/,
    facts: { reasoningMandatory: false, efforts: ['none', 'low', 'medium', 'high'] },
    source: OPENAI_DOCS,
  },
  {
    match: /^gpt-5-[2-5](-|$)/,
    facts: { reasoningMandatory: false, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
    source: OPENAI_DOCS,
  },
  {
    match: /^gpt-5-[6-9](-|$)|^gpt-[6-9](-|$)/,
    facts: { reasoningMandatory: false, efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
    source: OPENAI_DOCS,
  },
  {
    match: /^gpt-5-[2-9](-|$)|^gpt-[6-9](-|$)/,
    facts: { onlyWithoutReasoning: ['temperature', 'topP', 'logprobs', 'topLogprobs'] },
    source: 'platform.openai.com: guide "Using GPT-5.2", parameter compatibility; 2026-11',
  },
  {
    match: /^gpt-5-\d-codex/,
    facts: { reasoningMandatory: true, efforts: ['low', 'medium', 'high', 'xhigh'] },
    source: OPENAI_DOCS,
  },
  { match: /^gpt-5-1-codex(-mini)?$/, facts: { efforts: ['low', 'medium', 'high'] }, source: OPENAI_DOCS },
  { match: /^gpt-5-pro/, facts: { efforts: ['high'], maxOutputTokens: 272_000 }, source: OPENAI_DOCS },
  {
    match: /^gpt-5-\d-pro/,
    facts: { reasoningMandatory: true, efforts: ['medium', 'high', 'xhigh'] },
    source: OPENAI_DOCS,
  },
  {
    match: OPENAI_NOT_REASONING,
    facts: {
      reasoningStyle: 'none',
      reasoningMandatory: false,
      efforts: null,
      unsupported: [],
      protocol: undefined,
      maxOutputTokens: 16_384,
    },
    source: OPENAI_DOCS,
  },
  {
    match: OPENAI_NOT_REASONING,
    over: ['openai-chat'],
    facts: { unsupported: ['webSearch'] },
    source: OPENAI_DOCS,
  },
  {
    match: /^(o1-pro|o3-pro|computer-use|codex-|o[34].*deep-research)/,
    facts: { protocol: 'openai-responses' },
    source: OPENAI_DOCS,
  },
];
