// Chat Completions as spoken to an upstream: OpenAI itself and every compatible server. How a server departs
// from OpenAI's definition is told by the target's quirks alone.
import type { UpstreamCodec } from '../protocol.ts';
import { openaiUpstreamBatches } from '../openai/upstream-batches.ts';
import { announcedRateLimits, decodeRateLimitHeaders } from '../rate-limit-headers.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { TABLE } from './fields.ts';
import { SERVER_FACTS } from './server-facts.ts';

/** The upstream side of Chat Completions. */
export const openaiChatUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/chat/completions',
  headers: {},
  // OpenAI refuses `top_k`; servers that take it do so as an extension.
  lacks: TABLE.lacks,
  // Images are fetched; `file_data` holds the file itself (API reference, "File content part").
  takesUrl: (_url, type) => type === 'image',
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
  decodeLimits: decodeRateLimitHeaders,
  batches: openaiUpstreamBatches,
  announcedLimits: announcedRateLimits,
};
