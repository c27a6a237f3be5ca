// The Responses API as spoken to clients: the parts put together. Knows nothing of upstreams, and keeps nothing.
import { encodeError } from '../openai/encode-error.ts';
import { portableRequest } from './requests/portable-request.ts';
import type { KeepingProtocol } from '../protocol.ts';
import { ToolRestorer } from './answers/tool-restorer.ts';
import { ADDRESSES } from './addresses.ts';
import { background } from './background.ts';
import { CLIENT_NAMES } from './client-names.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { REASONING_FORMAT } from './decode-item.ts';
import { KNOWN_FIELDS, REQUEST_FIELDS } from './fields.ts';
import { requireCalls } from './requests/require-calls.ts';
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
  represents: new Set([
    'image',
    'compaction',
    'cache_writes',
    'web_search',
    'web_page',
    'page_pattern',
    'mcp',
    'mcp_tools',
    'mcp_question',
    'tool',
  ]),
  reportsFailure: true,
  // Hugging Face's examples of Open Responses send `latest`; the schema of 2026-04-24 does not name the header.
  openHeader: 'openresponses-version',
  endsInAnswer: true,
  encodeResponse,
  encodeStream,
  encodeError,
  nativeReasoning: { format: REASONING_FORMAT, kind: 'encrypted' },
  requireCalls,
  items: storedItems,
  background,
  portable(request, upstream, report) {
    const { request: ported, standIns } = portableRequest(request, upstream, report);
    return {
      request: ported,
      restore: standIns.size > 0 ? (next) => new ToolRestorer(next, standIns) : null,
    };
  },
};
