// The members that steer the gateway itself: reasoning, usage, routing. Owns the checks that need only the
// request; whether slugs and models exist, and what reasoning means for a model, is decided elsewhere.
import { EFFORTS } from '../../canonical/index.ts';
import type {
  GatewayOptions,
  JsonObject,
  Problems,
  ReasoningRequest,
  Report,
} from '../../canonical/index.ts';
import { readBoolean, readNumber, readObject, readStrings, readWord } from './read-member.ts';

const ROUTING_TYPES = ['priority', 'round_robin', 'least_latency', 'order'] as const;
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
  const raw = readObject(body['reasoning'], 'reasoning', problems) ?? {};
  const topEffort = readWord(body['reasoning_effort'], 'reasoning_effort', problems, EFFORTS);
  const effort = readWord(raw['effort'], 'reasoning.effort', problems, EFFORTS);
  const positive = { min: 1, integer: true };
  const maxTokens = readNumber(raw['max_tokens'], 'reasoning.max_tokens', problems, positive);
  const exclude = readBoolean(raw['exclude'], 'reasoning.exclude', problems);
  const include = readBoolean(body['include_reasoning'], 'include_reasoning', problems);
  if (include !== undefined && exclude !== undefined && include === exclude) {
    problems.add('include_reasoning', 'Parameter include_reasoning conflict with reasoning.exclude');
  }
  for (const key in raw) {
    if (!REASONING_MEMBERS.has(key)) report.add(`reasoning.${key}`, 'dropped', 'not a member of reasoning');
  }
  return {
    enabled: readBoolean(raw['enabled'], 'reasoning.enabled', problems),
    effort: effort ?? topEffort,
    maxTokens,
    exclude: exclude ?? (include === undefined ? undefined : !include),
    summary: readWord(raw['summary'], 'reasoning.summary', problems, SUMMARIES),
  };
}

/** Decodes the routing members and `usage`, which is accepted at the top level and below `reasoning`. */
export function decodeGatewayOptions(body: JsonObject, problems: Problems): GatewayOptions {
  const provider = readObject(body['provider'], 'provider', problems);
  if (provider) checkRouting(provider, problems);
  const models = readStrings(body['models'], 'models', problems);
  const reasoning = body['reasoning'];
  const nested = typeof reasoning === 'object' && reasoning !== null && 'usage' in reasoning;
  const below = nested ? decodeInclude(reasoning['usage'], 'reasoning.usage', problems) : undefined;
  return {
    provider,
    modelRouting: readObject(body['model_routing_config'], 'model_routing_config', problems),
    models: models?.length ? models : undefined,
    includeUsage: decodeInclude(body['usage'], 'usage', problems) ?? below,
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
    report.add(`stream_options.${key}`, 'dropped', 'the gateway writes the stream itself');
  }
  return includeUsage;
}

function decodeInclude(value: JsonObject[string], path: string, problems: Problems): boolean | undefined {
  const usage = readObject(value, path, problems);
  if (!usage) return undefined;
  const include = readBoolean(usage['include'], `${path}.include`, problems);
  if (usage['include'] === undefined || usage['include'] === null)
    problems.add(`${path}.include`, 'is required');
  return include;
}

function checkRouting(provider: JsonObject, problems: Problems): void {
  const routing = readObject(provider['routing'], 'provider.routing', problems);
  if (!routing) return;
  readWord(routing['type'], 'provider.routing.type', problems, ROUTING_TYPES);
  const providers = readStrings(routing['providers'], 'provider.routing.providers', problems);
  if (providers?.length === 0) problems.add('provider.routing.providers', 'must not be empty');
}
