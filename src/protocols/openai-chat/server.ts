// Chat Completions as spoken to clients: the parts put together. Knows nothing of upstreams.
import type { ServerCodec } from '../protocol.ts';
import { openaiBatches } from '../openai/batches.ts';
import { ADDRESSES } from './addresses.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeError } from '../openai/encode-error.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { KNOWN_FIELDS, REQUEST_FIELDS } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';

/** The server side of Chat Completions. */
export const openaiChatServer: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  members: KNOWN_FIELDS,
  fields: REQUEST_FIELDS,
  outline,
  decodeRequest,
  namedObjects,
  represents: new Set(['image', 'cache_writes']),
  encodeResponse,
  encodeStream,
  encodeError,
  batches: openaiBatches,
};
