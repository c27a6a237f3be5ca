// Encodes the body of a Responses request. The gateway stores conversations itself, so the upstream stores nothing, and
// reasoning is sent in encrypted form.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type ProtocolName,
  type Report,
  type ResponseFormat,
  type Target,
  TEXTS,
} from '../../../canonical/index.ts';
import { asObject, asString } from '../../../base/json/index.ts';
import { dropEndUser, endUserFor } from '../../end-user.ts';
import { reportPrefill } from '../../content/prefill.ts';
import { copySharedMembers, sharesMembers, SHARED_MEMBERS } from '../../openai/shared-members.ts';
import { enforceable } from '../../openai/strict-schema.ts';
import { REASONING_SHAPE, TEXT_SHAPE, unknownOf } from '../member-shapes.ts';
import { encodeItems } from './encode-conversation.ts';
import { encodeTools } from './encode-tools.ts';
import { TABLE } from '../fields.ts';

/** Minimum limit that OpenAI accepts. It answers 400 below it, although its reference names no minimum. */
export const MIN_OUTPUT_TOKENS = 16;

/** Encodes the upstream body. @throws GatewayError `unsupported` for audio, which the API does not accept */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const instructions = ownInstructions(request, target);
  const items = instructions === undefined ? request.items : request.items.slice(1);
  const body: MutableJsonObject = { model: target.model, input: encodeItems(items, target, report) };
  if (instructions !== undefined) body['instructions'] = instructions;

  const { tools, toolChoice } = encodeTools(request, target, report);
  if (tools.length > 0) {
    body['tools'] = tools;
    if (toolChoice !== undefined) body['tool_choice'] = toolChoice;
    if (request.parallelToolCalls !== undefined) body['parallel_tool_calls'] = request.parallelToolCalls;
  }

  if (request.maxOutputTokens !== undefined)
    body['max_output_tokens'] = outputLimit(request.maxOutputTokens, request, target, report);
  TABLE.write(body, { request, target, report });

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
  encodeShared(body, request, target, report);
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
  if (target.quirks.unknownFields === 'drop') return dropEndUser(request, TEXTS.unknownMember, report);
  const own = request.protocol === 'openai-responses' ? request.endUser : undefined;
  const id = own ?? endUserFor(request, LONGEST_IDENTIFIER, report);
  if (id !== undefined) body['safety_identifier'] = id;
}

const NONE: ReadonlySet<string> = new Set();
const END_USER: ReadonlySet<string> = new Set(['safety_identifier', 'user']);

/** Copies shared members. `user` of another protocol's client replaces a missing `safety_identifier`. */
function encodeShared(
  body: MutableJsonObject,
  request: CanonicalRequest,
  target: Target,
  report: Report,
): void {
  const hasUserMember =
    request.protocol !== 'openai-responses' && !asString(request.raw['safety_identifier']);
  copySharedMembers(body, request, target, report, { written: hasUserMember ? END_USER : NONE });
}

/**
 * Returns instructions that stay a member, as the client wrote them. Other turns of the conversation may be relayed,
 * and prompts must begin alike in both lanes to be cached. Undefined if they are sent as a message.
 */
function ownInstructions({ protocol, items, raw }: CanonicalRequest, target: Target): string | undefined {
  if (protocol !== 'openai-responses' || !target.isFaithful || items.length < 2) return undefined;
  const [first] = items;
  if (first?.type !== 'message' || first.path !== 'instructions' || !raw['instructions']) return undefined;
  const [part, ...others] = first.parts;
  return part?.type === 'text' && others.length === 0 ? part.text : undefined;
}

function outputLimit(limit: number, request: CanonicalRequest, { quirks }: Target, report: Report): number {
  if (limit >= MIN_OUTPUT_TOKENS || quirks.smallLimits) return limit;
  const name = LIMIT_NAMES.find((key) => key in request.raw) ?? 'max_output_tokens';
  report.add(name, 'clamped', `the minimum of the Responses API is ${MIN_OUTPUT_TOKENS}`);
  return MIN_OUTPUT_TOKENS;
}

/** Client names of the limit, in order of precedence. */
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
    // Required here, but optional in Chat Completions, where a missing schema means any object.
    schema: schema ?? { type: 'object' },
    ...(strict === undefined ? {} : { strict }),
    ...(description === undefined ? {} : { description }),
  };
}

/** Returns unknown members of `reasoning`, for servers that accept them. */
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
          'the Responses API supports an effort, not a number of tokens',
        );
      }
      return {
        ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
        ...(reasoning.summary === 'none' ? {} : { summary: reasoning.summary ?? 'auto' }),
      };
  }
}

/** Encodes a summary request without an effort. It is dropped if the model is known not to reason. */
function encodeSummaryAlone(
  summary: string | undefined,
  { reasoningStyle, isReasoningKnown }: Target,
  report: Report,
): JsonObject | undefined {
  if (summary === undefined || summary === 'none' || reasoningStyle !== 'none') return undefined;
  if (isReasoningKnown === false) return { summary };
  report.add('reasoning.summary', 'dropped', 'the model does not reason, so there is no summary');
  return undefined;
}

function encodeInclude(
  request: CanonicalRequest,
  target: Target,
  tools: readonly JsonObject[],
  report: Report,
): string[] {
  const include = new Set<string>();
  // Requested even if reasoning was not, because models that reason by default need it in the next turn. A model that
  // cannot reason answers 400 ("Encrypted content is not supported with this model").
  const asks = request.state?.include.has('reasoning.encrypted_content') === true;
  if (target.reasoningStyle !== 'none' || (asks && target.isReasoningKnown === false))
    include.add('reasoning.encrypted_content');
  else if (asks)
    report.add('include', 'dropped', 'the model does not reason, so there is no encrypted content');
  if (request.logprobs) include.add('message.output_text.logprobs');
  // Clients of other protocols get search results without a request.
  const isForeign = request.protocol !== 'openai-responses';
  if (isForeign && target.quirks.searchesWeb && tools.some(({ type }) => type === 'web_search'))
    include.add('web_search_call.action.sources');
  // Other members that the client requested, except those that depend on the model.
  for (const member of request.state?.include ?? [])
    if (member !== 'reasoning.encrypted_content' && member !== 'message.output_text.logprobs')
      include.add(member);
  return [...include];
}

/** Copies members that the client's protocol does not document, only to servers of the same protocol. */
function addExtra(body: MutableJsonObject, request: CanonicalRequest, target: Target, report: Report): void {
  const takes = request.protocol === 'openai-responses' && target.quirks.unknownFields === 'pass';
  const isShared = sharesMembers(request.protocol, 'openai-responses');
  for (const key in request.extra) {
    const value = request.extra[key];
    if (value === undefined || (isShared && SHARED_MEMBERS.has(key))) continue;
    if (!takes) report.add(key, 'dropped', TEXTS.unknownMember);
    else if (!(key in body)) body[key] = value;
  }
}
