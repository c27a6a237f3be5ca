// Anthropic Messages as spoken to an upstream: the parts put together.
import { decodeError } from './answers/decode-error.ts';
import { announcedLimits, decodeLimits } from './limits.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { TABLE } from './fields.ts';
import { SERVER_FACTS } from './server-facts.ts';
import type { UpstreamCodec } from '../protocol.ts';
import { anthropicUpstreamBatches } from './upstream-batches.ts';

export const anthropicMessagesUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  lacks: TABLE.lacks,
  schemasOnly: true,
  functionsOnly: true,
  textOnly: new Set(['assistant', 'system', 'developer']),
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
  decodeLimits,
  batches: anthropicUpstreamBatches,
  announcedLimits,
};
