// The Responses API as spoken to an upstream: the parts put together.
import type { Parameter } from '../../canonical/index.ts';
import { announcedRateLimits, decodeRateLimitHeaders } from '../rate-limit-headers.ts';
import { decodeError } from './decode-error.ts';
import { decodeResponse } from './decode-response.ts';
import { ResponsesStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { SERVER_FACTS } from './server-facts.ts';
import type { UpstreamCodec } from '../protocol.ts';

/**
 * Parameters of other protocols that OpenAI's Responses have no member for (API reference, "Create a model response",
 * 2026-11).
 */
const LACKS: ReadonlySet<Parameter> = new Set([
  'stop',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'seed',
  'topK',
]);

export const openaiResponsesUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/responses',
  headers: {},
  lacks: LACKS,
  textOnly: new Set(['assistant']),
  encodeRequest,
  decodeResponse,
  decodeStream: (sink, context) => new ResponsesStreamDecoder(sink, context),
  decodeError,
  decodeLimits: decodeRateLimitHeaders,
  announcedLimits: announcedRateLimits,
};
