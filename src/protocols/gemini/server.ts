// Gemini as spoken to clients: the parts put together. Knows nothing of upstreams.
import type { ServerCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { geminiBatches } from './batches/index.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeError } from '../google/encode-error.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { REQUEST_FIELDS } from './fields.ts';
import { formatOfWords, portableFormat } from './requests/portable-format.ts';
import { GEMINI_REASONING } from './thought-signature.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';

/** The server side of `generateContent` and `streamGenerateContent`. */
export const geminiServer: ServerCodec = {
  addresses: ADDRESSES,
  fields: REQUEST_FIELDS,
  names: CLIENT_NAMES,
  // A signature on the part that follows: every client keeps it there, also those that throw thoughts away.
  nativeReasoning: { format: GEMINI_REASONING, kind: 'encrypted' },
  omitsCallIds: true,
  outline,
  decodeRequest,
  namedObjects,
  portable: portableFormat,
  portableFormat: formatOfWords,
  batches: geminiBatches,
  represents: new Set(['image', 'web_search', 'web_page']),
  encodeResponse,
  encodeStream,
  encodeError,
};
