// The body of a Responses request. Stateless by decision: the gateway keeps conversations itself, so the upstream
// stores nothing and reasoning travels in encrypted form. Knows nothing of how efforts and budgets are chosen.
import type {
  CanonicalRequest,
  JsonObject,
  MutableJsonObject,
  ProtocolName,
  Report,
  ResponseFormat,
  Target,
} from '../../canonical/index.ts';
import { asObject } from '../../canonical/index.ts';
import { dropEndUser, endUserFor } from '../end-user.ts';
import { reportPrefill } from '../prefill.ts';
import { enforceable } from '../openai/strict-schema.ts';
import { REASONING_SHAPE, TEXT_SHAPE, unknownOf } from './member-shapes.ts';
import { encodeItems } from './encode-conversation.ts';
import { encodeTools } from './encode-tools.ts';

/** The smallest limit that OpenAI accepts: it answers 400 below it, though its reference names no minimum. */
export const MIN_OUTPUT_TOKENS = 16;

/** API reference, "Create a model response", `temperature`. */
export const MAX_TEMPERATURE = 2;

/**
 * Writes the upstream body.
 * @throws GatewayError `unsupported` for audio, which the API does not take
 */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const body: MutableJsonObject = { model: target.model, input: encodeItems(request.items, target, report) };

  const { tools, toolChoice } = encodeTools(request, target, report);
  if (tools.length > 0) {
    body['tools'] = tools;
    if (toolChoice !== undefined) body['tool_choice'] = toolChoice;
    if (request.parallelToolCalls !== undefined) body['parallel_tool_calls'] = request.parallelToolCalls;
  }

  if (request.maxOutputTokens !== undefined)
    body['max_output_tokens'] = outputLimit(request.maxOutputTokens, request, report);
  if (request.temperature !== undefined) {
    if (request.temperature > MAX_TEMPERATURE)
      report.add('temperature', 'clamped', `the largest temperature is ${MAX_TEMPERATURE}`);
    body['temperature'] = Math.min(request.temperature, MAX_TEMPERATURE);
  }
  if (request.topP !== undefined) body['top_p'] = request.topP;
  if (request.presencePenalty !== undefined) body['presence_penalty'] = request.presencePenalty;
  if (request.frequencyPenalty !== undefined) body['frequency_penalty'] = request.frequencyPenalty;
  if (request.logprobs && request.topLogprobs !== undefined) body['top_logprobs'] = request.topLogprobs;

  const text = encodeText(request, target, report);
  if (text) body['text'] = text;
  const reasoning = {
    ...unknownReasoning(request, target, report),
    ...encodeReasoning(request, target, report),
  };
  if (Object.keys(reasoning).length > 0) body['reasoning'] = reasoning;

  const include = encodeInclude(request, target, tools, report);
  if (include.length > 0) body['include'] = include;
  body['store'] = false;
  if (request.stream) body['stream'] = true;

  if (request.prefill && target.quirks.prefill === 'none') reportPrefill(request, report);
  encodeEndUser(body, request, target, report);
  addExtra(body, request, target, report);
  return body;
}

/** API reference, "Create a model response", `safety_identifier`, 2026-11. */
const LONGEST_IDENTIFIER = 128;

function encodeEndUser(
  body: MutableJsonObject,
  request: CanonicalRequest,
  target: Target,
  report: Report,
): void {
  if (target.quirks.unknownFields === 'drop')
    return dropEndUser(request, 'the upstream does not know this member', report);
  const own = request.protocol === 'openai-responses' ? request.endUser : undefined;
  const id = own ?? endUserFor(request, LONGEST_IDENTIFIER, report);
  if (id !== undefined) body['safety_identifier'] = id;
}

function outputLimit(limit: number, request: CanonicalRequest, report: Report): number {
  if (limit >= MIN_OUTPUT_TOKENS) return limit;
  const name = LIMIT_NAMES.find((key) => key in request.raw) ?? 'max_output_tokens';
  report.add(name, 'clamped', `the Responses API takes no limit below ${MIN_OUTPUT_TOKENS}`);
  return MIN_OUTPUT_TOKENS;
}

/** What clients call the limit, in the order in which it counts. */
const LIMIT_NAMES = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const;

function encodeText(request: CanonicalRequest, target: Target, report: Report): JsonObject | undefined {
  const format = request.responseFormat && encodeFormat(request.responseFormat, request.protocol, report);
  const own = request.protocol === 'openai-responses' ? asObject(request.raw['text']) : undefined;
  const rest = unknownOf(own, TEXT_SHAPE, 'text', target, report);
  if (!format && !rest && request.verbosity === undefined) return undefined;
  return {
    ...rest,
    ...(format ? { format } : {}),
    ...(request.verbosity === undefined ? {} : { verbosity: request.verbosity }),
  };
}

function encodeFormat(format: ResponseFormat, client: ProtocolName, report: Report): JsonObject {
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, schema, description } = format;
  const strict = enforceable(format.strict, schema, client, 'response_format.strict', report);
  return {
    type: 'json_schema',
    name,
    // Required here, optional in Chat Completions, where silence means any object.
    schema: schema ?? { type: 'object' },
    ...(strict === undefined ? {} : { strict }),
    ...(description === undefined ? {} : { description }),
  };
}

/** Members of tomorrow, for those who may know them. */
function unknownReasoning(
  { protocol, raw }: CanonicalRequest,
  target: Target,
  report: Report,
): JsonObject | undefined {
  const own = protocol === 'openai-responses' ? asObject(raw['reasoning']) : undefined;
  return unknownOf(own, REASONING_SHAPE, 'reasoning', target, report);
}

function encodeReasoning(
  { reasoning: asked }: CanonicalRequest,
  target: Target,
  report: Report,
): JsonObject | undefined {
  const { reasoning } = target;
  switch (reasoning.mode) {
    case 'unset':
      return encodeSummaryAlone(asked.summary, target, report);
    case 'off':
      return { effort: 'none' };
    case 'on':
      if (reasoning.effort === undefined && reasoning.budgetTokens !== undefined) {
        report.add(
          'reasoning.max_tokens',
          'dropped',
          'the Responses API takes an effort, not a number of tokens',
        );
      }
      return {
        ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
        ...(reasoning.summary === 'none' ? {} : { summary: reasoning.summary ?? 'auto' }),
      };
  }
}

/** A summary is asked of a model that may reason by itself; one that is known not to has none. */
function encodeSummaryAlone(
  summary: string | undefined,
  { reasoningStyle, isReasoningKnown }: Target,
  report: Report,
): JsonObject | undefined {
  if (summary === undefined || summary === 'none' || reasoningStyle !== 'none') return undefined;
  if (isReasoningKnown === false) return { summary };
  report.add('reasoning.summary', 'dropped', 'the model does not reason: there is nothing to sum up');
  return undefined;
}

function encodeInclude(
  request: CanonicalRequest,
  target: Target,
  tools: readonly JsonObject[],
  report: Report,
): string[] {
  const include = new Set<string>();
  // Asked for also when reasoning was not: models that reason by default need theirs back in the next turn. A
  // model that cannot reason answers 400 to this ("Encrypted content is not supported with this model").
  const asks = request.state?.include.has('reasoning.encrypted_content') === true;
  if (target.reasoningStyle !== 'none' || (asks && target.isReasoningKnown === false))
    include.add('reasoning.encrypted_content');
  else if (asks) report.add('include', 'dropped', 'the model does not reason: there is nothing encrypted');
  if (request.logprobs) include.add('message.output_text.logprobs');
  // Clients of other protocols are told what was found, without asking.
  const isForeign = request.protocol !== 'openai-responses';
  if (isForeign && target.quirks.searchesWeb && tools.some(({ type }) => type === 'web_search'))
    include.add('web_search_call.action.sources');
  // The client's own wishes, but for those that only a model with the ability may be asked for.
  for (const member of request.state?.include ?? [])
    if (member !== 'reasoning.encrypted_content' && member !== 'message.output_text.logprobs')
      include.add(member);
  return [...include];
}

/** Members that mean the same under the same name in OpenAI's other protocol (API reference, both pages, 2026-11). */
const SHARED: ReadonlySet<string> = new Set(['prompt_cache_key', 'prompt_cache_retention']);

/** Members that the client's protocol does not document: only a server of the same protocol may know them. */
function addExtra(body: MutableJsonObject, request: CanonicalRequest, target: Target, report: Report): void {
  const takes = target.quirks.unknownFields === 'pass';
  const isOwn = request.protocol === 'openai-responses';
  for (const key in request.extra) {
    const value = request.extra[key];
    if (value === undefined) continue;
    if (!takes || !(isOwn || SHARED.has(key)))
      report.add(key, 'dropped', 'the upstream does not know this member');
    else if (!(key in body)) body[key] = value;
  }
}
