// `POST /messages/count_tokens`: what a client sends, what an Anthropic upstream is asked, and the answer. Decides
// neither whom to ask nor how to estimate.
import type { CanonicalRequest, JsonObject, Report, Target } from '../../canonical/index.ts';
import { asNumber, asObject, isJsonObject, knownMembers } from '../../canonical/index.ts';
import type { CountCodec, CountServer } from '../protocol.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';

export const counting: CountCodec = {
  pathFor: () => '/v1/messages/count_tokens',
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => asNumber(asObject(body)['input_tokens']),
};

export const countServer: CountServer = {
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({ input_tokens: inputTokens }),
};

/** What the endpoint takes (SDK type `MessageCountTokensParams`); it refuses all others, `max_tokens` among them. */
const TAKEN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'context_management',
  'mcp_servers',
  'speed',
  'user_profile_id',
  'workspace_id',
]);

/**
 * Decodes the body of a count: that of a message without an answer's limit.
 * @throws GatewayError `invalid_request` that names every offending member
 */
function decodeCountRequest(body: unknown): CanonicalRequest {
  const isComplete = !isJsonObject(body) || typeof body['max_tokens'] === 'number';
  const request = decodeRequest(isComplete ? body : { ...body, max_tokens: 1 });
  return { ...request, maxOutputTokens: undefined, stream: false };
}

/** The upstream body of a count: the message's own, without what would only shape its answer. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return knownMembers(encodeRequest(request, target, report), TAKEN);
}
