// A Chat Completions request body becomes the canonical request. Owns the order of the checks and what
// happens to members that are not supported; the parts of the body have their own files.
import { asString, unknownMembers } from '../../base/json/index.ts';
import { Problems, Report, TEXTS } from '../../canonical/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeReasoningRequest, decodeStreamUsage } from './decode-reasoning-request.ts';
import { decodeMessages } from './decode-conversation.ts';
import { decodeResponseFormat, decodeWebSearch } from './decode-parameters.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { HELD_FIELDS, IGNORED_FIELDS, PASSED_FIELDS, TABLE } from './fields.ts';
import { REQUEST_SHAPE } from './member-shapes.ts';
import { endUserOf } from './outline.ts';
import { decodeMetadata } from '../openai/decode-metadata.ts';
import { decodeGatewayOptions, decodeModelId } from '../gateway-options.ts';
import { unknownBelow } from '../member-shape.ts';
import { POSITIVE, readBoolean, readNumber, requireBody } from '../read-member.ts';

/**
 * Decodes a parsed request body.
 * @throws GatewayError `invalid_request` or `unsupported` that names every offending member
 */
export function decodeRequest(given: unknown): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const report = new Report();
  const model = decodeModelId(body, problems);
  const items = decodeMessages(body['messages'], problems, report);

  const before = problems.list.length;
  const tools = decodeTools(body['tools'], problems);
  const areToolsClean = problems.list.length === before;
  const choice = decodeToolChoice(body['tool_choice'], areToolsClean ? tools : undefined, problems);

  const settings = TABLE.read(body, problems);
  if (settings.topLogprobs !== undefined && settings.logprobs !== true)
    problems.add('top_logprobs', 'needs logprobs to be true');
  const reasoning = decodeReasoningRequest(body, problems, report);
  const gateway = decodeGatewayOptions(body, problems, report);
  const stream = readBoolean(body['stream'], 'stream', problems) === true;
  const streamUsage = decodeStreamUsage(body, stream, gateway, problems, report);
  const maxOutputTokens = decodeOutputLimit(body, problems, report);
  const responseFormat = decodeResponseFormat(body['response_format'], problems);
  const webSearch = decodeWebSearch(body['web_search_options'], problems);
  const metadata = decodeMetadata(body['metadata'], problems);
  TABLE.check(body, problems);
  reportIgnored(body, report);
  problems.throwIfAny();
  const hasTools = tools.length > 0;
  if (!hasTools) {
    reportUseless(choice, settings.parallelToolCalls, report);
    settings.parallelToolCalls = undefined;
  }

  return {
    protocol: 'openai-chat',
    raw: body,
    model,
    items,
    tools,
    toolChoice: hasTools ? choice : undefined,
    parallelToolCalls: undefined,
    maxOutputTokens,
    ...settings,
    responseFormat,
    reasoning,
    webSearch,
    metadata,
    stream,
    streamUsage,
    gateway,
    serviceTier: asString(body['service_tier']),
    endUser: endUserOf(body),
    extra: extraMembers(body),
    translationLosses: unknownBelow(body, REQUEST_SHAPE, 'openai-chat'),
    report: report.speakAs(CLIENT_NAMES, body),
  };
}

/** `max_tokens` caps the cost of a call, so it is honoured although its successor has another meaning. */
function decodeOutputLimit(body: JsonObject, problems: Problems, report: Report): number | undefined {
  const limit = readNumber(body['max_completion_tokens'], 'max_completion_tokens', problems, POSITIVE);
  const legacy = readNumber(body['max_tokens'], 'max_tokens', problems, POSITIVE);
  if (legacy === undefined) return limit;
  if (limit !== undefined) {
    report.add('max_tokens', 'dropped', 'max_completion_tokens is given and counts');
    return limit;
  }
  report.add(
    'max_tokens',
    'approximated',
    'deprecated: taken as max_completion_tokens, which counts reasoning too',
  );
  return legacy;
}

/** These two choose among nothing where there are no tools, and upstreams refuse them. */
function reportUseless(
  choice: CanonicalRequest['toolChoice'],
  parallel: CanonicalRequest['parallelToolCalls'],
  report: Report,
): void {
  if (choice) report.add('tool_choice', 'dropped', TEXTS.noTools);
  if (parallel !== undefined) report.add('parallel_tool_calls', 'dropped', TEXTS.noTools);
}

/** Members for upstreams of the client's own protocol: those that nobody here knows, and those left to the vendor. */
function extraMembers(body: JsonObject): JsonObject {
  const extra = unknownMembers(body, HELD_FIELDS);
  if (!extra) return NO_MEMBERS;
  for (const name in extra) if (isUnsaid(name, extra[name])) return saidAmong(extra);
  return extra;
}

/** True for a member that is left to the vendor, and null. */
function isUnsaid(name: string, value: JsonValue | undefined): boolean {
  return value === null && PASSED_FIELDS.has(name);
}

function saidAmong(extra: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(extra).filter(([name, value]) => !isUnsaid(name, value)));
}

const NO_MEMBERS: JsonObject = Object.freeze({});

/** Documented members that are dropped, so that the request succeeds. */
function reportIgnored(body: JsonObject, report: Report): void {
  for (const name of IGNORED_FIELDS) {
    if (body[name] !== undefined && body[name] !== null)
      report.add(name, 'dropped', 'not supported by this endpoint');
  }
}
