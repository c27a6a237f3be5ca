// `models/{model}:countTokens`: decodes the client's body, encodes the request for Google, and converts the answer.
import type { JsonObject } from '../../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../../canonical/index.ts';
import { asObject, isJsonObject } from '../../../../base/json/index.ts';
import type { RequestRoute } from '../../../protocol.ts';
import type { CountClient, CountCodec, CountUpstream } from '../../../tasks/count/codec.ts';
import { z } from 'zod';
import { methodRoutes } from '../../addresses.ts';
import { bodyExample, contents, ofModel } from '../../described-methods.ts';
import { camelMembers } from '../../camel-members.ts';
import { decodeRequest } from '../../requests/decode-request.ts';
import { encodeRequest, methodPath } from '../../requests/encode-request.ts';
import { statedCount } from '../../../usage/token-count.ts';

const upstream: CountUpstream = {
  pathFor: (model) => methodPath(model, 'countTokens'),
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => statedCount(asObject(body)['totalTokens']),
};

const client: CountClient = {
  routes: methodRoutes({ countTokens: { api: 'countTokens', does: 'count', stream: false } }, () => [
    {
      ...ofModel('sim%2Fgemini'),
      id: 'countTokens',
      path: '/v1beta/models/{model}:countTokens',
      summary: TEXTS.countsTokens,
      body: z.looseObject({ contents: contents.optional() }),
      bodyExample,
      answer: z.looseObject({ totalTokens: z.int() }),
    },
  ]),
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({
    totalTokens: inputTokens,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: inputTokens }],
  }),
};

/**
 * Request members that Vertex AI accepts (API reference, `CountTokensRequest`, 2026-11), where they are the body
 * itself.
 */
const TAKEN_BY_VERTEX: readonly string[] = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

const vertex: Pick<CountUpstream, 'encodeRequest'> = {
  encodeRequest(request, target, report) {
    const body = encodeRequest(request, target, report);
    return Object.fromEntries(Object.entries(body).filter(([name]) => TAKEN_BY_VERTEX.includes(name)));
  },
};

/**
 * Decodes the body of a count: contents, or a whole request in `generateContentRequest`.
 * @throws GatewayError `invalid_request` naming every invalid member
 */
function decodeCountRequest(body: unknown, route: RequestRoute = {}): CanonicalRequest {
  const whole = isJsonObject(body) ? camelMembers(body)['generateContentRequest'] : undefined;
  return decodeRequest(isJsonObject(whole) ? whole : body, { ...route, stream: false });
}

/** Encodes the upstream body (API reference, `countTokens`, 2026-11). Only contents or a whole request are accepted. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const body = encodeRequest(request, target, report);
  return { generateContentRequest: { model: `models/${target.model}`, ...body } };
}

export const geminiCount: CountCodec = {
  protocol: 'gemini',
  upstream,
  hosted: vertex,
  client,
};
