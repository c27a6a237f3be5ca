// The reasoning members and `stream_options`. Owns the checks that need only the request; what reasoning means for
// a model is decided elsewhere.
import type { JsonObject } from '../../base/json/index.ts';
import {
  type GatewayOptions,
  type Problems,
  type ReasoningRequest,
  type Report,
  TEXTS,
} from '../../canonical/index.ts';
import { readEffort } from '../openai/read-effort.ts';
import { POSITIVE, readBoolean, readNumber, readObject, readWord } from '../read-member.ts';

const NO_MEMBERS: JsonObject = Object.freeze({});
const SUMMARIES = ['auto', 'concise', 'detailed'] as const;
const REASONING_MEMBERS: ReadonlySet<string> = new Set([
  'enabled',
  'effort',
  'max_tokens',
  'exclude',
  'summary',
  'usage',
]);

/** Decodes `reasoning`, `reasoning_effort` and `include_reasoning`; the more specific effort wins. */
export function decodeReasoningRequest(
  body: JsonObject,
  problems: Problems,
  report: Report,
): ReasoningRequest {
  const raw = readObject(body['reasoning'], 'reasoning', problems) ?? NO_MEMBERS;
  const top = readEffort(body['reasoning_effort'], 'reasoning_effort', problems);
  const own = readEffort(raw['effort'], 'reasoning.effort', problems);
  const maxTokens = readNumber(raw['max_tokens'], 'reasoning.max_tokens', problems, POSITIVE);
  const exclude = readBoolean(raw['exclude'], 'reasoning.exclude', problems);
  const include = readBoolean(body['include_reasoning'], 'include_reasoning', problems);
  if (include !== undefined && exclude !== undefined && include === exclude) {
    problems.add('include_reasoning', 'Parameter include_reasoning conflict with reasoning.exclude');
  }
  for (const key in raw) {
    if (!REASONING_MEMBERS.has(key)) report.add(`reasoning.${key}`, 'dropped', 'not a member of reasoning');
  }
  return {
    enabled: readBoolean(raw['enabled'], 'reasoning.enabled', problems) ?? own.enabled ?? top.enabled,
    effort: own.effort ?? top.effort,
    maxTokens,
    exclude: exclude ?? (include === undefined ? undefined : !include),
    summary: readWord(raw['summary'], 'reasoning.summary', problems, SUMMARIES),
  };
}

/**
 * Decodes `stream_options.include_usage` and its agreement with `stream` and `usage.include`.
 * @returns undefined when the client did not say
 */
export function decodeStreamUsage(
  body: JsonObject,
  stream: boolean,
  gateway: GatewayOptions,
  problems: Problems,
  report: Report,
): boolean | undefined {
  const options = readObject(body['stream_options'], 'stream_options', problems);
  if (!options) return undefined;
  if (!stream) {
    problems.add('stream_options', 'Parameter stream_options is not supported while stream is false');
  }
  const includeUsage = readBoolean(options['include_usage'], 'stream_options.include_usage', problems);
  if (includeUsage === false && gateway.includeUsage === true) {
    const path = 'stream_options.include_usage';
    problems.add(path, 'Parameter stream_options.include_usage conflict with usage.include');
  }
  for (const key in options) {
    // Chunks are never obfuscated, so a client that asks for that gets what it wants.
    if (key === 'include_usage' || (key === 'include_obfuscation' && options[key] !== true)) continue;
    report.add(`stream_options.${key}`, 'dropped', TEXTS.ownStream);
  }
  return includeUsage;
}
