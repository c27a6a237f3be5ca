// `POST /messages/count_tokens`: decoding of client bodies, and the request to an Anthropic upstream with its answer.
import type { JsonObject } from '../../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../../canonical/index.ts';
import { asObject, isJsonObject, knownMembers } from '../../../../base/json/index.ts';
import type { CountClient, CountCodec, CountUpstream } from '../../../tasks/count/codec.ts';
import { z } from 'zod';
import { bodyOf } from '../../../members/described-shapes.ts';
import type { ClientDescription } from '../../../protocol.ts';
import { bodyExample, headers, messages, model, tag } from '../../addresses.ts';
import { REQUEST_FIELDS } from '../../fields.ts';
import { decodeRequest } from '../../requests/decode-request.ts';
import { encodeRequest } from '../../requests/encode-request.ts';
import { statedCount } from '../../../usage/token-count.ts';

const upstream: CountUpstream = {
  pathFor: () => '/v1/messages/count_tokens',
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => statedCount(asObject(body)['input_tokens']),
};

const client: CountClient = {
  routes: [
    {
      path: '/messages/count_tokens',
      operation: { api: 'messages.count_tokens', does: 'count' },
      describes: describeCount,
    },
  ],
  decodeRequest: decodeCountRequest,
  encodeCount: (inputTokens) => ({ input_tokens: inputTokens }),
};

/** Members that the endpoint accepts (SDK type `MessageCountTokensParams`). It refuses others, such as `max_tokens`. */
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
 * Decodes the body of a count: that of a message, without an output limit.
 * @throws GatewayError `invalid_request` naming every invalid member
 */
function decodeCountRequest(body: unknown): CanonicalRequest {
  const isComplete = !isJsonObject(body) || typeof body['max_tokens'] === 'number';
  const request = decodeRequest(isComplete ? body : { ...body, max_tokens: 1 });
  return { ...request, maxOutputTokens: undefined, stream: false };
}

/** Encodes the upstream body: that of a message, without members that only affect the answer. */
function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return knownMembers(encodeRequest(request, target, report), TAKEN);
}

export const messagesCount: CountCodec = {
  protocol: 'anthropic-messages',
  upstream,
  client,
};

function describeCount(): ClientDescription {
  return {
    id: 'countMessageTokens',
    tag,
    summary: TEXTS.countsTokens,
    headers,
    body: bodyOf(REQUEST_FIELDS, { model, messages }),
    bodyExample,
    answer: z.looseObject({ input_tokens: z.int() }),
  };
}
