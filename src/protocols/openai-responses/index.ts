// Declaration of OpenAI's Responses API, and the only file of this folder that others import. Stored state is not part
// of it: the gateway stores responses itself.
import { encodeError } from '../openai/encode-error.ts';
import { openaiUpstreamBatches } from '../openai/upstream-batches.ts';
import type { KeepingProtocol, ServerFacts, UpstreamCodec } from '../protocol.ts';
import { announcedRateLimits, decodeRateLimitHeaders } from '../usage/rate-limit-headers.ts';
import { ADDRESSES } from './addresses.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { ResponsesStreamDecoder } from './answers/decode-stream.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { ToolRestorer } from './answers/tool-restorer.ts';
import { background } from './background.ts';
import { REASONING_FORMAT } from './decode-item.ts';
import { CLIENT_NAMES, KNOWN_FIELDS, REQUEST_FIELDS, TABLE } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { relay } from './relay.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { portableRequest } from './requests/portable-request.ts';
import { requireCalls } from './requests/require-calls.ts';
import { storedItems } from './stored-items.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'openai-responses': true;
  }
}

/** Facts of every server of the Responses API. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  reasoningFormat: REASONING_FORMAT,
  reasoningStyles: ['effort'],
  smallestBudget: 1,
  modelList: '/models',
  hasSiblings: true,
  // llama.cpp, vLLM and LM Studio know them. Other servers ignore or reject them.
  extraParameters: ['topK', 'seed'],
  varies: {
    namesCutAnswers: [true, false],
    systemRole: ['keep', 'system', 'developer'],
    textContent: ['parts', 'string'],
    unknownFields: ['pass', 'drop'],
    strictTools: [true, false],
    structuredOutput: ['json_schema', 'json_object', 'none'],
  },
};

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/responses',
  headers: {},
  lacks: TABLE.lacks,
  textOnly: new Set(['assistant']),
  encodeRequest,
  decodeResponse,
  decodeStream: (sink, context) => new ResponsesStreamDecoder(sink, context),
  decodeError,
  decodeLimits: decodeRateLimitHeaders,
  batches: openaiUpstreamBatches,
  announcedLimits: announcedRateLimits,
};

const server: KeepingProtocol['server'] = {
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
  // Hugging Face's examples of Open Responses send `latest`. The schema of 2026-04-24 does not name the header.
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
    const { request: ported, replacedTools } = portableRequest(request, upstream, report);
    return {
      request: ported,
      restore: replacedTools.size > 0 ? (next) => new ToolRestorer(next, replacedTools) : null,
    };
  },
};

export const openaiResponses: KeepingProtocol = {
  name: 'openai-responses',
  upstream,
  relay,
  server,
};
