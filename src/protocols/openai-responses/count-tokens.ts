// `POST /responses/input_tokens`: what a client sends, what OpenAI is asked, and the answer. Decides neither whom to ask
// nor how to estimate.
import type { CanonicalRequest, JsonObject, Report, Target } from '../../canonical/index.ts';
import { asNumber, asObject, isJsonObject, knownMembers } from '../../canonical/index.ts';
import type { CountCodec, CountServer } from '../protocol.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest } from './encode-request.ts';

export const counting: CountCodec = {
  pathFor: () => '/responses/input_tokens',
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => asNumber(asObject(body)['input_tokens']),
};

export const countServer: CountServer = {
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
};

/** What the endpoint takes of a request (SDK type `InputTokenCountParams`, 2026-11) and the gateway sends. */
const TAKEN: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
]);

/** Decodes the body of a count: that of a response, whose model may be absent. It is '' then. */
function decodeCountRequest(body: unknown): CanonicalRequest {
  if (!isJsonObject(body) || (body['model'] !== undefined && body['model'] !== null))
    return decodeRequest(body);
  return { ...decodeRequest({ ...body, model: 'any' }), model: '' };
}

/** The upstream body of a count: the response's own, without what would only shape its answer. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return knownMembers(encodeRequest(request, target, report), TAKEN);
}
