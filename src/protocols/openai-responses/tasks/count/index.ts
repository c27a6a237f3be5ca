// `POST /responses/input_tokens`: decodes the client's body, encodes the request for OpenAI, and converts the answer.
import type { JsonObject } from '../../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../../canonical/index.ts';
import { asObject, isJsonObject, knownMembers } from '../../../../base/json/index.ts';
import type { CountClient, CountCodec, CountUpstream } from '../../../tasks/count/codec.ts';
import { z } from 'zod';
import type { ClientDescription } from '../../../protocol.ts';
import { body, bodyExample, tag } from '../../addresses.ts';
import { decodeRequest } from '../../requests/decode-request.ts';
import { encodeRequest } from '../../requests/encode-request.ts';
import { statedCount } from '../../../usage/token-count.ts';

const upstream: CountUpstream = {
  pathFor: () => '/responses/input_tokens',
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => statedCount(asObject(body)['input_tokens']),
};

const client: CountClient = {
  routes: [
    {
      path: '/responses/input_tokens',
      operation: { api: 'responses.input_tokens', does: 'count' },
      describes: describeCount,
    },
  ],
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
};

/** Request members that the endpoint accepts (SDK type `InputTokenCountParams`, 2026-11) and the gateway sends. */
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

/** Decodes the body of a count: that of a response, whose model may be absent (then ''). */
function decodeCountRequest(body: unknown): CanonicalRequest {
  if (!isJsonObject(body) || (body['model'] !== undefined && body['model'] !== null))
    return decodeRequest(body);
  return { ...decodeRequest({ ...body, model: 'any' }), model: '' };
}

/** Encodes the upstream body: that of a response, without members that only affect the answer. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return knownMembers(encodeRequest(request, target, report), TAKEN);
}

export const responsesCount: CountCodec = {
  protocol: 'openai-responses',
  upstream,
  client,
};

function describeCount(): ClientDescription {
  return {
    id: 'countResponseTokens',
    tag,
    summary: TEXTS.countsTokens,
    body: body(),
    bodyExample,
    answer: z.looseObject({ object: z.string(), input_tokens: z.int() }),
  };
}
