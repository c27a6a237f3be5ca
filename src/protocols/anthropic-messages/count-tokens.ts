// `POST /messages/count_tokens`: what a client sends, what an Anthropic upstream is asked, and the answer. Decides
// neither whom to ask nor how to estimate.
import type {
  CanonicalRequest,
  JsonObject,
  MutableJsonObject,
  Report,
  Target,
} from '../../canonical/index.ts';
import { asNumber, asObject, isJsonObject } from '../../canonical/index.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';

/** Path below the provider's base URL. */
export const COUNT_TOKENS_PATH = '/v1/messages/count_tokens';

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
export function decodeCountRequest(body: unknown): CanonicalRequest {
  const isComplete = !isJsonObject(body) || typeof body['max_tokens'] === 'number';
  const request = decodeRequest(isComplete ? body : { ...body, max_tokens: 1 });
  return { ...request, maxOutputTokens: undefined, stream: false };
}

/** The upstream body of a count: the message's own, without what would only shape its answer. */
export function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const body = encodeRequest(request, target, report);
  const counted: MutableJsonObject = {};
  for (const key in body) if (TAKEN.has(key)) counted[key] = body[key];
  return counted;
}

/** Tokens from an upstream's answer; undefined when it holds none. */
export function decodeCount(body: unknown): number | undefined {
  return asNumber(asObject(body)['input_tokens']);
}

/** The answer for a client. @param inputTokens counted by the upstream, or estimated */
export function encodeCount(inputTokens: number): JsonObject {
  return { input_tokens: inputTokens };
}
