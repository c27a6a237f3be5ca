// The Responses API as spoken to clients: the parts put together. Knows nothing of upstreams, and keeps nothing.
import { encodeError } from '../openai/encode-error.ts';
import { portableRequest } from './portable-request.ts';
import type { KeepingProtocol } from '../protocol.ts';
import { ToolRestorer } from './tool-restorer.ts';
import { ADDRESSES } from './addresses.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { countServer } from './count-tokens.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeResponse } from './encode-response.ts';
import { encodeStream } from './encode-stream.ts';
import { REASONING_FORMAT } from './decode-item.ts';
import { KNOWN_FIELDS, REQUEST_FIELDS } from './fields.ts';
import { requireCalls } from './require-calls.ts';
import { storedItems } from './stored-items.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';

/** The server side of the Responses API. */
export const openaiResponsesServer: KeepingProtocol['server'] = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  members: KNOWN_FIELDS,
  fields: REQUEST_FIELDS,
  outline,
  decodeRequest,
  namedObjects,
  alsoTells: new Set(['image', 'compaction', 'web_page', 'mcp_question', 'tool']),
  tellsFailure: true,
  encodeResponse,
  encodeStream,
  encodeError,
  counting: countServer,
  nativeReasoning: { format: REASONING_FORMAT, kind: 'encrypted' },
  requireCalls,
  items: storedItems,
  portable(request, upstream, report) {
    const { request: ported, standIns } = portableRequest(request, upstream, report);
    return {
      request: ported,
      restore: standIns.size > 0 ? (next) => new ToolRestorer(next, standIns) : null,
    };
  },
};
