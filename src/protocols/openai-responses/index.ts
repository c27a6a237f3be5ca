// OpenAI's Responses API: the parts put together. Knows nothing of stored state: the gateway keeps that itself.
import type { Parameter } from '../../canonical/index.ts';
import type { KeepingProtocol } from '../protocol.ts';
import { openaiEmbeddings } from '../openai-embeddings.ts';
import { decodeRateLimitHeaders } from '../rate-limit-headers.ts';
import { counting } from './count-tokens.ts';
import { decodeError } from './decode-error.ts';
import { decodeResponse } from './decode-response.ts';
import { ResponsesStreamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { relay } from './relay.ts';
import { openaiResponsesServer } from './server.ts';
import { SERVER_FACTS } from './server-facts.ts';

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

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'openai-responses': true;
  }
}

export const openaiResponses: KeepingProtocol = {
  name: 'openai-responses',
  upstream: {
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
  },
  counting,
  embeddings: openaiEmbeddings,
  relay,
  server: openaiResponsesServer,
};
