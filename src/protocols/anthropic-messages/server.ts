// Anthropic Messages as spoken to clients: the parts put together. Knows nothing of upstreams.
import type { ServerCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { countServer } from './count-tokens.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeError } from './encode-error.ts';
import { encodeLimits } from './encode-limits.ts';
import { encodeResponse } from './encode-response.ts';
import { encodeStream } from './encode-stream.ts';
import { KNOWN_FIELDS, REQUEST_FIELDS } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';

/** The server side of the Messages API. */
export const anthropicMessagesServer: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  members: KNOWN_FIELDS,
  fields: REQUEST_FIELDS,
  outline,
  decodeRequest,
  namedObjects,
  alsoTells: new Set(['tool']),
  encodeResponse,
  encodeStream,
  encodeError,
  encodeLimits,
  counting: countServer,
  // Which features, an open list that Anthropic judges. The version is that of our codec, and whatever else is named so
  // speaks of an account, which is the operator's.
  passedHeaders: new Set(['anthropic-beta']),
  // Streaming reference, "Ping events", 2026-11: any number of them, anywhere after the beginning.
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
};
