// Decodes a Responses request body into the canonical request. The parts of the body have files of their own.
import { isJsonObject, type JsonObject, unknownMembers } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type Item,
  Problems,
  Report,
  type StateRequest,
  TEXTS,
  type Tool,
  type ToolChoice,
  type TranslationLoss,
} from '../../../canonical/index.ts';
import { decodeMetadata } from '../../openai/decode-members.ts';
import { decodeGatewayOptions, decodeModelId } from '../../members/gateway-options.ts';
import { unknownBelow } from '../../members/member-shape.ts';
import { readBoolean, readObject, readString, requireBody } from '../../members/read-member.ts';
import { decodeInput, decodeInstructions } from './decode-conversation.ts';
import { decodeReasoning, decodeState, decodeText } from './decode-parameters.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { CLIENT_NAMES, DECODED_FIELDS, KNOWN_FIELDS, TABLE } from '../fields.ts';
import { REQUEST_SHAPE } from '../member-shapes.ts';

/**
 * Decodes a parsed request body. `instructions` becomes the first item, with the path `instructions`.
 * @throws GatewayError `invalid_request` naming every invalid member
 */
export function decodeRequest(given: unknown): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const report = new Report();
  const model = decodeModelId(body, problems);
  const state = decodeState(body, problems);
  const items = [
    ...decodeInstructions(body['instructions'], problems),
    ...decodeInput(body['input'], problems),
  ];
  if (isEmpty(body, state))
    problems.add('input', 'is required unless previous_response_id, conversation or prompt is given');

  const before = problems.list.length;
  const tools = decodeTools(body['tools'], problems);
  const areToolsClean = problems.list.length === before;
  const choice = decodeToolChoice(body['tool_choice'], areToolsClean ? tools : undefined, problems);
  const settings = TABLE.read(body, problems);
  const logprobs = decodeLogprobs(settings.topLogprobs, state, report);
  const text = decodeText(body['text'], problems);
  const reasoning = decodeReasoning(body['reasoning'], problems, report);
  const gateway = decodeGatewayOptions(body, problems, report);
  const stream = readBoolean(body['stream'], 'stream', problems) === true;
  const streamUsage = decodeStreamOptions(body, stream, problems, report);
  const metadata = decodeMetadata(body['metadata'], problems);
  const serviceTier = readString(body['service_tier'], 'service_tier', problems);
  TABLE.check(body, problems);
  if (areToolsClean && choice?.type === 'required' && tools.length === 0 && !hasTools(body))
    problems.add('tool_choice', 'requires tools');
  problems.throwIfAny();

  return {
    protocol: 'openai-responses',
    raw: body,
    model,
    items: items satisfies readonly Item[],
    tools,
    ...settings,
    ...withTools(tools, choice, settings.parallelToolCalls, report),
    ...logprobs,
    ...text,
    reasoning,
    metadata,
    endUser: state.safetyIdentifier || undefined,
    serviceTier,
    stream,
    streamUsage,
    gateway,
    state,
    extra: statedMembers(body),
    translationLosses: translationLosses(body),
    report: report.speakAs(CLIENT_NAMES, body),
  };
}

/** True if the request has no content at all. */
function isEmpty(body: JsonObject, state: StateRequest): boolean {
  const { input } = body;
  const hasInput = Array.isArray(input) ? input.length > 0 : input !== undefined && input !== null;
  return (
    !hasInput &&
    state.previousResponseId === undefined &&
    state.conversationId === undefined &&
    state.prompt === undefined
  );
}

function hasTools(body: JsonObject): boolean {
  return Array.isArray(body['tools']) && body['tools'].length > 0;
}

/** Decodes log probabilities. They are only returned if `include` names them; `top_logprobs` alone has no effect. */
function decodeLogprobs(
  topLogprobs: number | undefined,
  state: StateRequest,
  report: Report,
): Pick<CanonicalRequest, 'logprobs' | 'topLogprobs'> {
  if (state.include.has('message.output_text.logprobs')) return { logprobs: true, topLogprobs };
  if (topLogprobs)
    report.add('top_logprobs', 'dropped', 'requires `message.output_text.logprobs` in `include`');
  return { topLogprobs: undefined };
}

/** Checks `stream_options`. Token counts are always in the last event, because the API has no option for them. */
function decodeStreamOptions(body: JsonObject, stream: boolean, problems: Problems, report: Report): true {
  const options = readObject(body['stream_options'], 'stream_options', problems);
  if (options && !stream) problems.add('stream_options', TEXTS.streamOptionsAlone);
  readBoolean(options?.['include_usage'], 'stream_options.include_usage', problems);
  for (const key in options) {
    // Events are never obfuscated, so only a request for obfuscation is reported.
    if (key === 'include_usage' || (key === 'include_obfuscation' && options[key] !== true)) continue;
    report.add(`stream_options.${key}`, 'dropped', TEXTS.ownStream);
  }
  return true;
}

/** Drops members that have no effect without tools. Only a choice that requires a tool is reported. */
function withTools(
  tools: readonly Tool[],
  toolChoice: ToolChoice | undefined,
  parallelToolCalls: boolean | undefined,
  report: Report,
): Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'> {
  if (tools.length > 0) return { toolChoice, parallelToolCalls };
  if (toolChoice && toolChoice.type !== 'auto' && toolChoice.type !== 'none')
    report.add('tool_choice', 'dropped', TEXTS.noTools);
  return { parallelToolCalls: undefined };
}

/** Returns members that are not decoded: undocumented ones, and hints with a value. */
function statedMembers(body: JsonObject): JsonObject {
  const members = unknownMembers(body, DECODED_FIELDS);
  if (!members) return {};
  const said = Object.entries(members).filter(
    ([name, value]) => name !== 'metadata' && !(value === null && KNOWN_FIELDS.has(name)),
  );
  return Object.fromEntries(said);
}

/** Collects unknown nested members and `metadata`. Encoders of OpenAI's protocols report the latter. */
function translationLosses(body: JsonObject): readonly TranslationLoss[] | undefined {
  const below = unknownBelow(body, REQUEST_SHAPE, 'openai-responses');
  const { metadata } = body;
  if (!isJsonObject(metadata) || Object.keys(metadata).length === 0) return below;
  const reason = 'stored in the record and returned in the response, but not sent upstream';
  const loss: TranslationLoss = {
    path: 'metadata',
    action: 'dropped',
    reason,
    keptBy: 'openai-responses',
    alsoKeptBy: 'openai-chat',
  };
  return [loss, ...(below ?? [])];
}
