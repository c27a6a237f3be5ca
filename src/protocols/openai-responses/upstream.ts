// The Responses API as spoken to an upstream: the parts put together.
import { openaiUpstreamBatches } from '../openai/upstream-batches.ts';
import { announcedRateLimits, decodeRateLimitHeaders } from '../rate-limit-headers.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { ResponsesStreamDecoder } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { TABLE } from './fields.ts';
import { SERVER_FACTS } from './server-facts.ts';
import type { UpstreamCodec } from '../protocol.ts';

export const openaiResponsesUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/responses',
  headers: {},
  lacks: TABLE.lacks,
  textOnly: new Set(['assistant']),
  encodeRequest,
  decodeResponse,
  decodeStream: (sink, context) => new ResponsesStreamDecoder(sink, context),
  decodeError,
  decodeLimits: decodeRateLimitHeaders,
  batches: openaiUpstreamBatches,
  announcedLimits: announcedRateLimits,
};
