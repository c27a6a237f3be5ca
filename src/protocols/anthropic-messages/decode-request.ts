// A Messages request body becomes the canonical request. Owns the order of the checks and the members that have no
// file of their own.
import { unknownMembers } from '../../base/json/index.ts';
import { Problems, Report } from '../../canonical/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { decodeGatewayOptions } from '../gateway-options.ts';
import { unknownBelow } from '../member-shape.ts';
import { readBoolean, requireBody, requireString } from '../read-member.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeMessages, decodeSystem } from './decode-conversation.ts';
import type { DecodeScope } from './decode-scope.ts';
import { decodeThinking } from './decode-thinking.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { KNOWN_FIELDS, TABLE } from './fields.ts';
import { changedTools } from './tool-changes.ts';
import { REQUEST_SHAPE } from './member-shapes.ts';
import { decodeMetadata } from './outline.ts';

/**
 * Decodes a parsed request body.
 * @throws GatewayError `invalid_request` that names every offending member
 */
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
    report.add('reasoning', 'dropped', 'this protocol has `thinking` and `output_config.effort`');
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
