// Token counts of Chat Completions servers that offer them, which OpenAI does not.
import type { JsonObject, MutableJsonObject } from '../../../../base/json/index.ts';
import type { CanonicalRequest, Report, Target } from '../../../../canonical/index.ts';
import { asObject } from '../../../../base/json/index.ts';
import type { CountCodec, CountUpstream } from '../../../tasks/count/codec.ts';
import { statedCount } from '../../../usage/token-count.ts';
import { encodeRequest } from '../../requests/encode-request.ts';

/**
 * The request is the same as for an answer. llama.cpp returns `input_tokens` at `/chat/completions/input_tokens`
 * (measured 2026-11-28), vLLM `count` at `/tokenize` (`TokenizeChatRequest`, 2026-11).
 */
const upstream: CountUpstream = {
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => statedCount(asObject(body)['input_tokens'] ?? asObject(body)['count']),
};

function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const encoded: MutableJsonObject = { ...encodeRequest(request, target, report) };
  delete encoded['stream'];
  delete encoded['stream_options'];
  return encoded;
}

export const chatCount: CountCodec = {
  protocol: 'openai-chat',
  upstream,
};
