// Anthropic Messages as spoken to clients: the parts put together. Knows nothing of upstreams.
import type { ServerCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { messageBatches } from './batches.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { earlierAnswer } from './answers/earlier-answer.ts';
import { encodeError } from './answers/encode-error.ts';
import { fileShapes } from './encode-file.ts';
import { encodeLimits } from './limits.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { KNOWN_FIELDS, REQUEST_FIELDS } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { withOneList } from './requests/tool-changes.ts';
import { threads } from './threads.ts';

/** The server side of the Messages API. */
export const anthropicMessagesServer: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  members: KNOWN_FIELDS,
  fields: REQUEST_FIELDS,
  outline,
  decodeRequest,
  namedObjects,
  // The protocol's own vendor changes the list of tools itself.
  portable: (request, { protocol, faithful }, report) =>
    protocol === 'anthropic-messages' && faithful ? { request, restore: null } : withOneList(request, report),
  represents: new Set(['tool', 'web_search', 'mcp', 'cache_writes']),
  endsInAnswer: true,
  files: fileShapes,
  batches: messageBatches,
  encodeResponse,
  encodeStream,
  encodeError,
  encodeLimits,
  threads,
  earlierAnswer,
  // Which features, an open list that Anthropic judges. The version is that of our codec, and whatever else is named so
  // speaks of an account, which is the operator's.
  passedHeaders: new Map([['anthropic-beta', new Set(['message-threads-2026-08-12'])]]),
  // Streaming reference, "Ping events", 2026-11: any number of them, anywhere after the beginning.
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
};
