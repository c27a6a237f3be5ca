// Decodes the body that creates an interaction into the canonical request: the model or agent and the texts, for
// routing and records. The client's own body is forwarded, and Google validates it.
import type { CanonicalRequest } from '../../../canonical/index.ts';
import { asString } from '../../../base/json/index.ts';
import { Problems, Report } from '../../../canonical/index.ts';
import { decodeGatewayOptions } from '../../members/gateway-options.ts';
import {
  POSITIVE,
  readBoolean,
  readNumber,
  readObject,
  readString,
  requireBody,
} from '../../members/read-member.ts';
import { CLIENT_NAMES } from '../fields.ts';
import { decodeConversation } from './decode-conversation.ts';
import { decodeAsked } from '../outline.ts';

/** @throws GatewayError `invalid_request` naming every invalid member */
export function decodeRequest(sent: unknown): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(sent, problems);
  const report = new Report();
  const asked = decodeAsked(body, problems);
  const previous = readString(body['previous_interaction_id'], 'previous_interaction_id', problems);
  const config = readObject(body['generation_config'], 'generation_config', problems);
  const maxOutputTokens = readNumber(
    config?.['max_output_tokens'],
    'generation_config.max_output_tokens',
    problems,
    POSITIVE,
  );
  const stream = readBoolean(body['stream'], 'stream', problems) === true;
  const background = readBoolean(body['background'], 'background', problems) === true;
  const gateway = decodeGatewayOptions(body, problems, report);
  problems.throwIfAny();
  return {
    protocol: 'gemini-interactions',
    raw: body,
    model: asked,
    items: decodeConversation(body),
    tools: [],
    maxOutputTokens,
    reasoning: {},
    serviceTier: asString(body['service_tier']),
    stream,
    streamUsage: stream || undefined,
    background: background || undefined,
    follows: previous ? { id: previous, path: 'previous_interaction_id' } : undefined,
    gateway,
    extra: {},
    report: report.speakAs(CLIENT_NAMES, body),
  };
}
