// Encodes the response object around the output: members of the request, with all defaults, and the outcome. Whole
// answers and stream events contain the same object.
import { asObject, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { ErrorKind, FinishEvent, GatewayError, StartEvent, Usage } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import { toolWithoutCredentials } from '../../without-credentials.ts';
import { encodeUsage } from './encode-usage.ts';

/** Prefix of response ids. The generation's own id follows it. */
export const RESPONSE_PREFIX = 'resp_';

/**
 * Values of OpenAI's schema `ServiceTier`. Strict clients reject others. `auto` is only a request, which a stream
 * repeats before the tier is known.
 */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['default', 'flex', 'scale', 'priority', 'fast']);

/** State of the answer. */
export type Outcome =
  | { readonly status: 'queued' | 'in_progress' }
  | { readonly status: 'completed' }
  /** `undefined`: the upstream gave no reason. */
  | { readonly status: 'incomplete'; readonly reason: string | undefined }
  | { readonly status: 'failed'; readonly error: GatewayError };

/**
 * Returns the outcome of an answer that ended without an error. A refusal without text is reported as filtered, so that
 * the text before it does not look complete.
 * @param saysRefusal true if the answer has a refusal part
 */
export function outcomeOf(finish: FinishEvent, saysRefusal: boolean): Outcome {
  switch (finish.reason) {
    case 'length':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'incomplete':
      return { status: 'incomplete', reason: finish.raw };
    case 'refusal':
      return saysRefusal ? { status: 'completed' } : { status: 'incomplete', reason: 'content_filter' };
    default:
      return { status: 'completed' };
  }
}

/**
 * Encodes the response object, with the request's members and the API's defaults for missing ones.
 * @param output complete output items
 * @param rest members of the upstream's own response object that only this protocol has
 */
export function encodeResponseObject(
  context: AnswerContext,
  start: StartEvent,
  outcome: Outcome,
  output: readonly JsonObject[],
  usage: Usage | undefined,
  rest?: JsonObject,
): JsonObject {
  const { request, createdSeconds } = context;
  const { raw, state } = request;
  const text = asObject(raw['text']);
  const reasoning = asObject(raw['reasoning']);
  const tier = start.serviceTier;
  // One literal for performance: copying members of another object would dominate the cost.
  const response: MutableJsonObject = {
    id: RESPONSE_PREFIX + context.id,
    object: 'response',
    created_at: createdSeconds,
    status: outcome.status,
    completed_at: outcome.status === 'completed' ? (context.completedSeconds ?? null) : null,
    background: state?.background ?? false,
    error: outcome.status === 'failed' ? encodeFailure(outcome.error) : null,
    incomplete_details:
      outcome.status === 'incomplete' && outcome.reason !== undefined ? { reason: outcome.reason } : null,
    model: context.model,
    output,
    access_programs: null,
    frequency_penalty: request.frequencyPenalty ?? 0,
    instructions: raw['instructions'] ?? null,
    max_output_tokens: request.maxOutputTokens ?? null,
    max_tool_calls: state?.maxToolCalls ?? null,
    metadata: { ...request.metadata },
    parallel_tool_calls: raw['parallel_tool_calls'] ?? true,
    presence_penalty: request.presencePenalty ?? 0,
    previous_response_id: state?.previousResponseId ?? null,
    prompt_cache_key: state?.promptCacheKey ?? null,
    prompt_cache_retention: state?.promptCacheRetention ?? null,
    reasoning: {
      effort: request.reasoning.effort ?? 'medium',
      summary: reasoning['summary'] ?? reasoning['generate_summary'] ?? null,
    },
    safety_identifier: state?.safetyIdentifier ?? null,
    store: state?.store ?? true,
    temperature: request.temperature ?? 1,
    text: {
      ...text,
      format: text['format'] ?? { type: 'text' },
      verbosity: text['verbosity'] ?? 'medium',
    },
    tool_choice: raw['tool_choice'] ?? 'auto',
    tools: Array.isArray(raw['tools']) ? raw['tools'].map(echoTool) : [],
    top_logprobs: raw['top_logprobs'] ?? 0,
    top_p: request.topP ?? 1,
    truncation: state?.truncation ?? 'disabled',
    user: null,
  };
  if (state?.conversationId !== undefined) response['conversation'] = { id: state.conversationId };
  if (isJsonObject(raw['prompt'])) response['prompt'] = raw['prompt'];
  response['service_tier'] = tier !== undefined && SERVICE_TIERS.has(tier) ? tier : 'default';
  response['usage'] = usage ? encodeUsage(usage, context.costUsd) : null;
  return rest ? Object.assign(response, rest) : response;
}

/** Returns a tool as the client sent it, with the API's defaults. Credentials of MCP servers are never repeated. */
function echoTool(tool: JsonValue): JsonValue {
  if (!isJsonObject(tool)) return tool;
  if (tool['type'] === 'function')
    return {
      ...tool,
      description: tool['description'] ?? null,
      parameters: tool['parameters'] ?? null,
      strict: tool['strict'] ?? true,
    };
  return toolWithoutCredentials(tool);
}

/**
 * Codes of OpenAI's schema `ResponseError`, and undocumented ones that its service sends. Codex, for example, shortens
 * its history on `context_length_exceeded` and gives up on `insufficient_quota`.
 */
const CODES: Partial<Readonly<Record<ErrorKind, string>>> = {
  rate_limited: 'rate_limit_exceeded',
  quota: 'insufficient_quota',
  context_overflow: 'context_length_exceeded',
  content_filter: 'invalid_prompt',
  invalid_request: 'invalid_prompt',
};

/** Encodes `{code, message}` of a failed answer. */
export function encodeFailure(error: GatewayError): { readonly code: string; readonly message: string } {
  return { code: CODES[error.kind] ?? 'server_error', message: error.message };
}
