// Declaration of Anthropic's Messages API, and the only file of this folder that others import.
import type { ServedProtocol, ServerCodec, ServerFacts, UpstreamCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { earlierAnswer } from './answers/earlier-answer.ts';
import { encodeError } from './answers/encode-error.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { messageBatches } from './batches.ts';
import { fileShapes } from './encode-file.ts';
import { CLIENT_NAMES, KNOWN_FIELDS, REQUEST_FIELDS, TABLE } from './fields.ts';
import { CLAUDE_REASONING } from './foreign-reasoning.ts';
import { announcedLimits, decodeLimits, encodeLimits } from './limits.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { relay } from './relay.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeRequest } from './requests/encode-request.ts';
import { withOneList } from './requests/tool-changes.ts';
import { threads } from './threads.ts';
import { anthropicUpstreamBatches } from './upstream-batches.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'anthropic-messages': true;
  }
}

/** Facts of every server of the Messages API. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-api-key', prefix: '' },
  reasoningFormat: CLAUDE_REASONING,
  reasoningStyles: ['effort', 'budget'],
  // Documentation "Extended thinking", 2026-11.
  smallestBudget: 1024,
  modelList: '/v1/models?limit=1000',
  hasSiblings: true,
  namesEnds: true,
  varies: {
    unknownFields: ['pass', 'drop'],
    strictTools: [true, false],
    prefill: ['plain'],
  },
};

const upstream: UpstreamCodec = {
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

const server: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  members: KNOWN_FIELDS,
  fields: REQUEST_FIELDS,
  outline,
  decodeRequest,
  namedObjects,
  // Faithful upstreams of this protocol apply tool changes themselves.
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
  // The header lists features, which Anthropic validates. Version and account headers are not forwarded: the version is
  // this codec's, and the account is the operator's.
  passedHeaders: new Map([['anthropic-beta', new Set(['message-threads-2026-08-12'])]]),
  // Streaming reference, "Ping events", 2026-11: any number, at any point after the start.
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
};

export const anthropicMessages: ServedProtocol = {
  name: 'anthropic-messages',
  upstream,
  server,
  relay,
};
