// Facts about Anthropic's models. Rows match canonical names; later rows are laid over earlier ones.
import type { ProtocolName } from '../../canonical/index.ts';
import type { FamilyRow } from './family.ts';

const CLAUDE_DOCS = 'platform.claude.com: models overview, extended and adaptive thinking, effort; 2026-11';
const LATER_CLAUDE = /^claude-(opus-4-[678]|sonnet-4-6|(opus|sonnet|haiku|fable|mythos)-(5|preview))/;
const CLAUDE_WITHOUT_SAMPLING = /^claude-(opus-4-[78]|(opus|sonnet|haiku|fable|mythos)-(5|preview))/;
const VISION: readonly string[] = ['text', 'image', 'file'];

export const claudeFamilies: readonly FamilyRow[] = [
  {
    match: /^claude-/,
    facts: {
      contextLength: 200_000,
      maxOutputTokens: 8_192,
      detailsFormat: 'anthropic-claude-v1',
      inputModalities: VISION,
      // Structured outputs arrived with Sonnet 4.5 and Opus 4.1; earlier ones are emulated.
      quirks: { structuredOutput: 'none' },
    },
    source: CLAUDE_DOCS,
  },
  {
    // Converse accepts Claude's own parameters.
    match: /^claude-/,
    over: ['bedrock-converse'],
    facts: {
      quirks: {
        reasoningField: 'thinking',
        exclusiveReasoning: true,
        cacheControl: true,
        strictTools: true,
        prefill: 'plain',
        // Recorded from Sonnet 4.5, 2026.
        assistantFirst: true,
      },
    },
    source: 'docs.aws.amazon.com: Bedrock, Anthropic Claude models; recordings 2026',
  },
  {
    match: /^claude-/,
    facts: { quirks: { pairedSampling: false } },
    source: 'platform.claude.com: migrating to Claude 4.5, sampling parameters; 2026-11',
  },
  {
    // Models before Opus 4.1 and Sonnet 4.5 accept both.
    match: /^claude-(v\d|[123]|instant|(opus|sonnet)-4(-0)?(-\d{8}|$|@)|4-(opus|sonnet))/,
    facts: { quirks: { pairedSampling: true } },
    source: 'the same page; recorded from Claude 3 Sonnet over Converse, 2026',
  },
  { match: /^claude-(3|2|v\d|instant)/, facts: { reasoningStyle: 'none' }, source: CLAUDE_DOCS },
  { match: /^claude-(3-(haiku|opus|sonnet)|2|v1)/, facts: { maxOutputTokens: 4_096 }, source: CLAUDE_DOCS },
  {
    match: /^claude-(3-7|(opus|sonnet|haiku)-4|4)/,
    facts: { reasoningStyle: 'budget', reasoningBudget: { min: 1024, max: null }, maxOutputTokens: 64_000 },
    source: CLAUDE_DOCS,
  },
  { match: /^claude-(opus-4|4-opus)/, facts: { maxOutputTokens: 32_000 }, source: CLAUDE_DOCS },
  {
    match: /^claude-((opus-4-[15678]|sonnet-4-[56]|haiku-4-5)|(opus|sonnet|haiku|fable|mythos)-(5|preview))/,
    facts: { quirks: { structuredOutput: 'json_schema' } },
    source: 'platform.claude.com: structured outputs, 2026-11',
  },
  {
    match: /^claude-opus-4-5/,
    facts: { reasoningStyle: 'both', efforts: ['low', 'medium', 'high'], maxOutputTokens: 64_000 },
    source: CLAUDE_DOCS,
  },
  {
    match: LATER_CLAUDE,
    facts: {
      reasoningStyle: 'effort',
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      contextLength: 1_000_000,
      maxOutputTokens: 128_000,
    },
    source: CLAUDE_DOCS,
  },
  {
    // Sources disagree about Sonnet 5, so its instructions are placed in front.
    match: /^claude-(opus-4-8|(opus|haiku|fable|mythos)-5|sonnet-5-[5-9])/,
    over: ['anthropic-messages'],
    facts: { quirks: { laterInstructions: true } },
    source: "platform.claude.com: mid-conversation system messages, what's new in Claude Opus 4.8; 2026-11",
  },
  {
    match: LATER_CLAUDE,
    facts: { quirks: { prefill: 'none' } },
    source: "platform.claude.com: what's new in Claude 4.6, prefill removal; 2026-02",
  },
  {
    match: /^claude-(opus|sonnet)-4-6/,
    facts: { efforts: ['low', 'medium', 'high', 'max'] },
    source: CLAUDE_DOCS,
  },
  {
    // Adaptive thinking together with `tool_choice: any` works, although the page on thinking excludes it.
    match: /^claude-(opus|sonnet)-4-6/,
    facts: { quirks: { forcedThinking: true } },
    source: 'recorded from Opus 4.6, 2026',
  },
  {
    // Opus 4.7 and later answer 400 to sampling parameters.
    match: CLAUDE_WITHOUT_SAMPLING,
    facts: { unsupported: ['temperature', 'topP', 'topK'] },
    source: 'platform.claude.com: migration guide to Opus 4.7, 2026-04',
  },
  {
    // `thinking: {type: "disabled"}` is a 400 on these.
    match: /^claude-((fable|mythos)-|opus-5-[5-9]|sonnet-5-[5-9])/,
    facts: { reasoningMandatory: true },
    source: CLAUDE_DOCS,
  },
];

/**
 * Converts a name as people write it (`claude-sonnet-4.5`) to the API's name. Anthropic's API writes versions with
 * dashes, and some models only under these names (platform.claude.com, models overview and deprecations, 2026-11).
 * Names for protocols that many vendors serve are unchanged.
 */
export function apiName(name: string, protocol: ProtocolName): string {
  if (protocol !== 'anthropic-messages' || !name.startsWith('claude-')) return name;
  const dashed = name.replace(/(\d)\.(?=\d)/g, '$1-');
  if (dashed === 'claude-sonnet-4' || dashed === 'claude-opus-4') return `${dashed}-0`;
  if (dashed === 'claude-3-7-sonnet' || dashed === 'claude-3-5-haiku') return `${dashed}-latest`;
  return dashed;
}
