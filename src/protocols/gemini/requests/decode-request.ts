// Decodes a `generateContent` body into the canonical request. Model and stream mode come from the address.
import type { CanonicalRequest } from '../../../canonical/index.ts';
import { unknownMembers } from '../../../base/json/index.ts';
import { Problems, Report } from '../../../canonical/index.ts';
import { decodeGatewayOptions } from '../../members/gateway-options.ts';
import { unknownBelow } from '../../members/member-shape.ts';
import type { RequestRoute } from '../../protocol.ts';
import { requireBody } from '../../members/read-member.ts';
import { camelMembers, camelName } from '../camel-members.ts';
import { decodeContents, decodeSystemInstruction } from './decode-conversation.ts';
import { decodeGenerationConfig } from './decode-generation-config.ts';
import { decodeToolConfig, decodeTools, isValidated, type ExtraMembers } from './decode-tools.ts';
import { REQUEST_SHAPE } from '../member-shapes.ts';
import { CLIENT_NAMES, KNOWN_FIELDS } from '../fields.ts';
import { decodeModel } from '../outline.ts';

/**
 * Decodes a parsed request body.
 * @param route members from the address; its model takes precedence over the body's
 * @throws GatewayError `invalid_request` or `unsupported` naming every invalid member
 */
export function decodeRequest(sent: unknown, route: RequestRoute = {}): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(sent, problems);
  const report = new Report();
  const given = camelMembers(body);
  const extra: ExtraMembers = { ...unknownMembers(given, KNOWN_FIELDS) };

  const model = decodeModel(given, route, problems);
  const items = [
    ...decodeSystemInstruction(given['systemInstruction'], problems),
    ...decodeContents(given['contents'], problems),
  ];
  const declared = decodeTools(given['tools'], problems);
  const tools = isValidated(given['toolConfig'])
    ? declared.map((tool) => (tool.type === 'function' ? { ...tool, strict: true } : tool))
    : declared;
  const toolChoice = decodeToolConfig(given['toolConfig'], tools, extra, problems);
  const config = decodeGenerationConfig(given['generationConfig'], extra, problems);
  const gateway = decodeGatewayOptions(body, problems, report);
  problems.throwIfAny();

  const stream = route.stream === true;
  return {
    protocol: 'gemini',
    raw: body,
    model,
    items,
    tools,
    // A choice has no meaning without functions.
    toolChoice: tools.some((tool) => tool.type === 'function') ? toolChoice : undefined,
    ...config,
    stream,
    streamUsage: stream || undefined,
    gateway,
    extra,
    translationLosses: unknownBelow(body, REQUEST_SHAPE, 'gemini', camelName),
    report: report.speakAs(CLIENT_NAMES, body),
  };
}
