// Facts about the models of all other makers. Rows match canonical names; later rows are laid over earlier ones.
import type { Quirks } from '../../canonical/index.ts';
import type { FamilyRow } from './family.ts';

const OTHER_SWITCHES: readonly Quirks['reasoningField'][] = [
  'thinking',
  'enable_thinking',
  'chat_template_kwargs',
];
const VISION: readonly string[] = ['text', 'image', 'file'];

export const otherFamilies: readonly FamilyRow[] = [
  // OpenAI's open-weight models, at any provider.
  {
    match: /^gpt-oss/,
    facts: {
      reasoningStyle: 'effort',
      reasoningMandatory: true,
      efforts: ['low', 'medium', 'high'],
      contextLength: 131_072,
    },
    source: 'gpt-oss model card 2025-08; recordings of four providers',
  },
  {
    match: /^gpt-oss/,
    field: OTHER_SWITCHES,
    facts: { quirks: { reasoningField: 'reasoning_effort' } },
    source: 'vLLM and NIM model pages 2026',
  },

  {
    match: /^gpt-oss/,
    over: ['bedrock-converse'],
    facts: { quirks: { reasoningField: 'reasoning_effort' } },
    source: 'docs.aws.amazon.com: Bedrock, OpenAI models, 2026-11',
  },

  // Amazon.
  {
    match: /^nova-/,
    facts: {
      contextLength: 300_000,
      inputModalities: VISION,
      quirks: { structuredOutput: 'none', cacheControl: true },
    },
    source: 'docs.aws.amazon.com: Amazon Nova user guide, 2026-11',
  },

  // DeepSeek.
  {
    match: /^deepseek-(reasoner|r1)/,
    facts: { reasoningStyle: 'effort', reasoningMandatory: true, efforts: [] },
    source: 'api-docs.deepseek.com 2026-08',
  },
  {
    match: /^deepseek-(chat|v3-[12])/,
    facts: { reasoningStyle: 'effort', efforts: [] },
    source: 'api-docs.deepseek.com 2025-12: V3.1 and later switch thinking',
  },
  {
    match: /^deepseek-v4/,
    facts: {
      reasoningStyle: 'effort',
      efforts: ['low', 'high', 'max'],
      contextLength: 1_000_000,
      maxOutputTokens: 262_144,
    },
    source: 'api-docs.deepseek.com: thinking mode, 2026-08',
  },

  // xAI.
  {
    match: /^grok-/,
    // No document promises that a trailing assistant message is continued.
    facts: { detailsFormat: 'xai-responses-v1', inputModalities: VISION, quirks: { prefill: 'none' } },
    source: 'docs.x.ai 2026-07',
  },
  {
    match: /^grok-(3-mini|4|code|build)/,
    facts: {
      reasoningStyle: 'effort',
      reasoningMandatory: true,
      efforts: [],
      unsupported: ['frequencyPenalty', 'presencePenalty', 'stop'],
    },
    source: 'docs.x.ai: reasoning; penalties and stop are refused by reasoning models',
  },
  {
    match: /^grok-3-mini/,
    facts: { efforts: ['low', 'high'], inputModalities: ['text'] },
    source: 'docs.x.ai: reasoning',
  },
  {
    match: /^grok-4-3/,
    facts: { reasoningMandatory: false, efforts: ['none', 'low', 'medium', 'high'] },
    source: 'docs.x.ai: reasoning, 2026-04',
  },
  {
    match: /^grok-4-[5-9](-|$)/,
    facts: { efforts: ['low', 'medium', 'high'] },
    source: 'docs.x.ai: reasoning, 2026-07',
  },
  {
    match: /^grok-.*non-reasoning/,
    facts: { reasoningStyle: 'none', reasoningMandatory: false, efforts: null, unsupported: [] },
    source: 'docs.x.ai: models',
  },

  // Qwen.
  {
    match: /^(qwen3|qwen-3|qwen-(plus|turbo|flash|max))/,
    facts: { reasoningStyle: 'budget', reasoningBudget: { min: 1, max: null } },
    source: 'alibabacloud.com: deep thinking, 2026',
  },
  {
    match: /^(qwq|qvq)|^qwen3.*-thinking/,
    facts: { reasoningStyle: 'budget', reasoningMandatory: true, reasoningBudget: { min: 1, max: null } },
    source: 'alibabacloud.com: deep thinking, 2026',
  },
  {
    match: /^qwen3.*-instruct|^(qwen3|qwen-3)-coder/,
    facts: { reasoningStyle: 'none', reasoningMandatory: false },
    source: 'model cards 2025-07',
  },
  {
    // Accepted effort values differ between servers. Only on and off are portable.
    match: /^(qwen3|qwen-3)/,
    field: ['reasoning_effort'],
    facts: { reasoningStyle: 'effort', efforts: [] },
    source: 'console.groq.com: reasoning; recordings 2026',
  },
  {
    match: /^(qwen3.*-instruct|(qwen3|qwen-3)-coder)/,
    field: ['reasoning_effort'],
    facts: { reasoningStyle: 'none', efforts: null },
    source: 'model cards 2025-07',
  },

  // Moonshot.
  {
    match: /^kimi-k2-(5|6)/,
    facts: { reasoningStyle: 'effort', efforts: [], contextLength: 262_144 },
    source: 'platform.moonshot.ai: thinking models, 2026',
  },
  {
    match: /^kimi-k2-(7|thinking)/,
    facts: { reasoningStyle: 'effort', reasoningMandatory: true, efforts: [], contextLength: 262_144 },
    source: 'platform.moonshot.ai: thinking models, 2026',
  },
  {
    match: /^kimi-k3/,
    facts: {
      reasoningStyle: 'effort',
      reasoningMandatory: true,
      efforts: ['low', 'high', 'max'],
      contextLength: 1_048_576,
    },
    source: 'platform.moonshot.ai: thinking effort, 2026',
  },
  {
    match: /^kimi-k3/,
    field: ['thinking'],
    facts: { quirks: { reasoningField: 'reasoning_effort' } },
    source: 'platform.moonshot.ai: thinking effort, 2026',
  },
  {
    match: /^kimi-k(2-[5-9]|3)/,
    facts: { unsupported: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty'] },
    source: 'platform.moonshot.ai: sampling is fixed from K2.5 on',
  },

  // Z.AI.
  {
    match: /^(zai-)?glm-(4-[5-9]|5)/,
    facts: { reasoningStyle: 'effort', efforts: [] },
    source: 'docs.z.ai: thinking mode, 2026',
  },
  {
    match: /^(zai-)?glm-5-3/,
    facts: { reasoningMandatory: true, efforts: ['low', 'high', 'max'], maxOutputTokens: 131_072 },
    source: 'docs.z.ai: GLM-5.3, 2026-08',
  },
  {
    match: /^(zai-)?glm-5-3/,
    field: ['thinking'],
    facts: { quirks: { reasoningField: 'reasoning_effort' } },
    source: 'docs.z.ai: GLM-5.3, 2026-08',
  },

  // Mistral.
  {
    match: /^magistral/,
    facts: { reasoningStyle: 'effort', reasoningMandatory: true, efforts: [] },
    source: 'docs.mistral.ai: reasoning, 2026',
  },
  {
    match: /^mistral-(small|medium)(-latest|-2603|-3-5|$)/,
    facts: { reasoningStyle: 'effort', efforts: ['none', 'high'] },
    source: 'docs.mistral.ai: adjustable reasoning, 2026; recordings',
  },
  {
    match: /^pixtral|^mistral-(medium|small|large-2512)/,
    facts: { inputModalities: ['text', 'image'] },
    source: 'docs.mistral.ai: vision',
  },

  // Google's models at aggregators.
  {
    match: /^gemini-/,
    facts: {
      detailsFormat: 'google-gemini-v1',
      inputModalities: ['text', 'image', 'file', 'audio', 'video'],
      // No document promises that a trailing assistant message is continued.
      quirks: { prefill: 'none' },
    },
    source: 'openrouter.ai: reasoning tokens',
  },
  {
    match: /^gemini-2-5/,
    facts: { reasoningStyle: 'budget', reasoningBudget: { min: 1, max: 24_576 }, maxOutputTokens: 65_536 },
    source: 'ai.google.dev: thinking',
  },
  {
    match: /^gemini-2-5-pro/,
    facts: { reasoningMandatory: true, reasoningBudget: { min: 128, max: 32_768 } },
    source: 'ai.google.dev: thinking budgets, 2.5 Pro cannot be switched off',
  },
  {
    match: /^gemini-2-5-flash-lite/,
    facts: { reasoningBudget: { min: 512, max: 24_576 } },
    source: 'ai.google.dev: thinking budgets',
  },
  {
    match: /^gemini-([3-9]|flash-latest|flash-lite-latest|pro-latest)/,
    facts: {
      reasoningStyle: 'effort',
      reasoningMandatory: true,
      efforts: ['minimal', 'low', 'medium', 'high'],
      maxOutputTokens: 65_536,
    },
    source: 'ai.google.dev: thinking levels, 2026-11; thinking cannot be switched off',
  },
  {
    match: /^gemini-3-pro/,
    facts: { efforts: ['low', 'high'] },
    source: 'ai.google.dev: thinking levels',
  },
  {
    match: /^gemini-(3-[1-9]-pro|pro-latest)/,
    facts: { efforts: ['low', 'medium', 'high'] },
    source: 'ai.google.dev: thinking levels',
  },

  // Perplexity.
  {
    match: /^sonar-(reasoning|deep-research)/,
    facts: { reasoningStyle: 'effort', reasoningMandatory: true, efforts: ['low', 'medium', 'high'] },
    source: 'docs.perplexity.ai: models',
  },
];
