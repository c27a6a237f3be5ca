// Declaration of Google's Gemini protocol, and the only file of this folder that others import. Upstreams are AI Studio
// and Vertex, whose paths differ only above the collection of models.
import { decodeError } from '../google/decode-error.ts';
import { encodeError } from '../google/encode-error.ts';
import type { ServedProtocol, ServerCodec, ServerFacts, UpstreamCodec } from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { geminiBatches, geminiUpstreamBatches } from './batches/index.ts';
import { CLIENT_NAMES, REQUEST_FIELDS, TABLE } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { relay } from './relay.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeRequest, pathFor } from './requests/encode-request.ts';
import { formatOfWords, portableFormat } from './requests/portable-format.ts';
import { GEMINI_REASONING } from './thought-signature.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    gemini: true;
  }
}

/** Facts of every Gemini server. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-goog-api-key', prefix: '' },
  reasoningFormat: GEMINI_REASONING,
  reasoningStyles: ['effort', 'budget'],
  smallestBudget: 1,
  modelList: '/models?pageSize=1000',
  varies: {
    unknownFields: ['pass', 'drop'],
    prefill: ['plain'],
  },
};

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/models',
  pathFor,
  headers: {},
  // The API has no member for these (API reference, `GenerationConfig` and `ToolConfig`, 2026-11).
  lacks: TABLE.lacks,
  functionsOnly: true,
  // Recorded: a stream ends with a signature on an empty text.
  signsLast: true,
  textOnly: new Set(['system', 'developer']),
  // YouTube videos and Google's own files. Only some models accept other URLs, and not for every type (documentation
  // "File input methods", 2026-11).
  takesUrl: (url) =>
    /^https:\/\/(?:(?:www\.)?youtube\.com\/|youtu\.be\/|generativelanguage\.googleapis\.com\/)/.test(url),
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
  batches: geminiUpstreamBatches,
};

const server: ServerCodec = {
  addresses: ADDRESSES,
  fields: REQUEST_FIELDS,
  names: CLIENT_NAMES,
  // A signature on the following part. Every client keeps it there, even those that discard thoughts.
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

export const gemini: ServedProtocol = {
  name: 'gemini',
  upstream,
  relay,
  server,
};
