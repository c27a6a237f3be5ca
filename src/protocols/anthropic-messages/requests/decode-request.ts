// Decodes a Messages request body into the canonical request.
import { type JsonObject, type JsonValue, unknownMembers } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  EFFORTS,
  Problems,
  type ReasoningRequest,
  Report,
  type ResponseFormat,
} from '../../../canonical/index.ts';
import { decodeGatewayOptions } from '../../members/gateway-options.ts';
import { unknownBelow } from '../../members/member-shape.ts';
import {
  POSITIVE,
  readBoolean,
  readNumber,
  readObject,
  readOneOf,
  requireBody,
  requireObject,
  requireString,
} from '../../members/read-member.ts';
import { decodeMessages, decodeSystem } from './decode-conversation.ts';
import type { DecodeScope } from './decode-scope.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { CLIENT_NAMES, KNOWN_FIELDS, TABLE } from '../fields.ts';
import { changedTools } from './tool-changes.ts';
import { REQUEST_SHAPE } from '../member-shapes.ts';
import { decodeMetadata } from '../outline.ts';

/** Decodes a parsed request body. @throws GatewayError `invalid_request` naming every invalid member */
export function decodeRequest(given: unknown): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const report = new Report();
  const scope: DecodeScope = { problems, report, translationLosses: [] };
  const model = requireString(body['model'], 'model', problems) ?? '';
  if (body['max_tokens'] === undefined || body['max_tokens'] === null)
    problems.add('max_tokens', 'is required');
  const system = decodeSystem(body['system'], scope);
  const messages = decodeMessages(body['messages'], scope);

  const before = problems.list.length;
  const tools = decodeTools(body['tools'], body['mcp_servers'], scope);
  const offered = changedTools(tools, messages, body['mcp_servers'], scope);
  const areToolsClean = problems.list.length === before;
  const choice = decodeToolChoice(body['tool_choice'], areToolsClean ? offered : undefined, scope);
  const { reasoning, responseFormat, extra } = decodeThinking(body, scope);
  const gateway = decodeGatewayOptions(body, problems, report);
  if (body['reasoning'] !== undefined && body['reasoning'] !== null)
    report.add('reasoning', 'dropped', 'use `thinking` and `output_config.effort` in this protocol');
  const stream = readBoolean(body['stream'], 'stream', problems) === true;
  const settings = TABLE.read(body, problems);
  const metadata = decodeMetadata(body, problems);
  problems.throwIfAny();

  const last = messages.at(-1);
  return {
    protocol: 'anthropic-messages',
    raw: body,
    model,
    items: system ? [system, ...messages] : messages,
    tools,
    ...choice,
    ...settings,
    responseFormat,
    reasoning,
    metadata,
    endUser: metadata?.['user_id'],
    ...(last?.type === 'message' && last.role === 'assistant' ? { prefill: true } : {}),
    stream,
    gateway,
    extra: { ...unknownMembers(body, KNOWN_FIELDS), ...extra },
    translationLosses: [
      ...scope.translationLosses,
      ...(unknownBelow(body, REQUEST_SHAPE, 'anthropic-messages') ?? []),
    ],
    report: report.speakAs(CLIENT_NAMES, body),
  };
}

// `thinking` and `output_config` of a Messages request. Their effect is decided by the engine.

const DISPLAYS = ['summarized', 'omitted'] as const;

export interface DecodedThinking {
  readonly reasoning: ReasoningRequest;
  readonly responseFormat: ResponseFormat | undefined;
  /** `thinking` of an unknown type, which is only sent to upstreams of this protocol. */
  readonly extra: Readonly<Record<string, JsonValue | undefined>>;
}

/** Decodes the amount of thinking, its visibility, and the response format. */
function decodeThinking(body: JsonObject, scope: DecodeScope): DecodedThinking {
  const { problems } = scope;
  const config = readObject(body['output_config'], 'output_config', problems) ?? {};
  const effort = readOneOf(config['effort'], 'output_config.effort', problems, EFFORTS);
  const responseFormat = decodeFormat(config, scope);

  const thinking = readObject(body['thinking'], 'thinking', problems);
  // A request without `thinking` leaves it to the model's default.
  if (!thinking) return { reasoning: { effort, leaveToModel: true }, responseFormat, extra: {} };
  const display = readOneOf(thinking['display'], 'thinking.display', problems, DISPLAYS);
  const exclude = display === undefined ? undefined : display === 'omitted';
  const type = requireString(thinking['type'], 'thinking.type', problems);
  switch (type) {
    case 'enabled': {
      const path = 'thinking.budget_tokens';
      if (thinking['budget_tokens'] === undefined) problems.add(path, 'is required');
      const maxTokens = readNumber(thinking['budget_tokens'], path, problems, POSITIVE);
      return { reasoning: { enabled: true, effort, maxTokens, exclude }, responseFormat, extra: {} };
    }
    case 'adaptive':
      return { reasoning: { enabled: true, effort, exclude }, responseFormat, extra: {} };
    case 'disabled':
      return { reasoning: { enabled: false }, responseFormat, extra: {} };
    default:
      return { reasoning: { effort, leaveToModel: true }, responseFormat, extra: { thinking } };
  }
}

/** Decodes the response format. Schemas have no name here, so a default name is used where one is required. */
function decodeFormat(config: JsonObject, scope: DecodeScope): ResponseFormat | undefined {
  const { problems } = scope;
  const path = 'output_config.format';
  const format = readObject(config['format'], path, problems);
  if (!format) return undefined;
  readOneOf(format['type'] ?? '', `${path}.type`, problems, ['json_schema'] as const);
  const schema = requireObject(format['schema'], `${path}.schema`, problems);
  return schema && { type: 'json_schema', name: 'answer', schema, strict: true };
}
