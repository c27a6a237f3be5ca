// The response object around the output: what it repeats of the request, with every default, and how it ended. The
// same object stands in a whole answer and in the events of a stream.
import { asObject, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { ErrorKind, FinishEvent, GatewayError, StartEvent, Usage } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import { toolWithoutCredentials } from '../../without-credentials.ts';
import { encodeUsage } from './encode-usage.ts';

/** The id under which the client knows the answer; the generation's own id follows the prefix. */
export const RESPONSE_PREFIX = 'resp_';

/**
 * The values of OpenAI's schema `ServiceTier`; other servers' words would fail strict clients. `auto` is a wish, which
 * a stream repeats before it is known who serves it.
 */
const SERVICE_TIERS: ReadonlySet<string> = new Set(['default', 'flex', 'scale', 'priority', 'fast']);

/** How the answer stands. */
export type Outcome =
  | { readonly status: 'queued' | 'in_progress' }
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: string }
  | { readonly status: 'failed'; readonly error: GatewayError };

/**
 * The outcome of an answer that ended in good order. A refusal without words of its own has no other sign here than
 * that of a filter: the text before it must not look complete.
 * @param saysRefusal true when the answer has a part that is a refusal
 */
export function outcomeOf(finish: FinishEvent, saysRefusal: boolean): Outcome {
  switch (finish.reason) {
    case 'length':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'incomplete', reason: 'content_filter' };
    case 'refusal':
      return saysRefusal ? { status: 'completed' } : { status: 'incomplete', reason: 'content_filter' };
    default:
      return { status: 'completed' };
  }
}

/**
 * Writes the object. In the middle it repeats the request, with the defaults of the API where the client said nothing.
 * @param output the output items, complete ones only
 */
export function encodeResponseObject(
  context: AnswerContext,
  start: StartEvent,
  outcome: Outcome,
  output: readonly JsonObject[],
  usage: Usage | undefined,
): JsonObject {
  const { request, createdSeconds } = context;
  const { raw, state } = request;
  const text = asObject(raw['text']);
  const reasoning = asObject(raw['reasoning']);
  const tier = start.serviceTier;
  // One literal, to which little is added: to copy the members of another object costs more than all the rest.
  const response: MutableJsonObject = {
    id: RESPONSE_PREFIX + context.id,
    object: 'response',
    created_at: createdSeconds,
    status: outcome.status,
    completed_at: outcome.status === 'completed' ? (context.completedSeconds ?? null) : null,
    background: state?.background ?? false,
    error: outcome.status === 'failed' ? encodeFailure(outcome.error) : null,
    incomplete_details: outcome.status === 'incomplete' ? { reason: outcome.reason } : null,
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
  return response;
}

/** A tool as the client sent it, with the defaults of the API; credentials of MCP servers are never repeated. */
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
 * The codes of OpenAI's schema `ResponseError`, and those that its service sends beside them: Codex, for one, shortens
 * its history on `context_length_exceeded` and gives up on `insufficient_quota`.
 */
const CODES: Partial<Readonly<Record<ErrorKind, string>>> = {
  rate_limited: 'rate_limit_exceeded',
  quota: 'insufficient_quota',
  context_overflow: 'context_length_exceeded',
  content_filter: 'invalid_prompt',
  invalid_request: 'invalid_prompt',
};

/** `{code, message}` of an answer that failed. */
export function encodeFailure(error: GatewayError): { readonly code: string; readonly message: string } {
  return { code: CODES[error.kind] ?? 'server_error', message: error.message };
}
