// The Interactions API as spoken to Google.
import type { UpstreamCodec } from '../protocol.ts';
import { decodeError } from '../google/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { SERVER_FACTS } from './server-facts.ts';

export const interactionsUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/interactions',
  headers: {},
  lacks: new Set(),
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
};
