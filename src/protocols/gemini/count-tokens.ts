// `models/{model}:countTokens`: what a client sends, what Google is asked, and the answer. Decides neither whom to ask
// nor how to estimate.
import type { CanonicalRequest, JsonObject, Report, Target } from '../../canonical/index.ts';
import { asNumber, asObject, isJsonObject } from '../../canonical/index.ts';
import type { CountCodec, CountServer, RequestRoute } from '../protocol.ts';
import { camelMembers } from './camel-members.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeRequest, methodPath } from './encode-request.ts';

export const counting: CountCodec = {
  pathFor: (model) => methodPath(model, 'countTokens'),
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => asNumber(asObject(body)['totalTokens']),
};

export const countServer: CountServer = {
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({
    totalTokens: inputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  }),
};

/** What Vertex AI takes of a request (API reference, `CountTokensRequest`, 2026-11): there it stands by itself. */
const TAKEN_BY_VERTEX: readonly string[] = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

export const vertexCounting: Pick<CountCodec, 'encodeRequest'> = {
  encodeRequest(request, target, report) {
    const body = encodeRequest(request, target, report);
    return Object.fromEntries(Object.entries(body).filter(([name]) => TAKEN_BY_VERTEX.includes(name)));
  },
};

/**
 * Decodes the body of a count: bare contents, or a whole request under `generateContentRequest`.
 * @throws GatewayError `invalid_request` that names every offending member
 */
function decodeCountRequest(body: unknown, route: RequestRoute = {}): CanonicalRequest {
  const whole = isJsonObject(body) ? camelMembers(body)['generateContentRequest'] : undefined;
  return decodeRequest(isJsonObject(whole) ? whole : body, { ...route, stream: false });
}

/** The upstream body of a count (API reference, `countTokens`, 2026-11): beside contents only a whole request is taken. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const body = encodeRequest(request, target, report);
  return { generateContentRequest: { model: `models/${target.model}`, ...body } };
}
