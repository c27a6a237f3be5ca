// Gemini as spoken to an upstream: AI Studio and Vertex, whose paths differ above the collection of models only.
import { TABLE } from './fields.ts';
import type { UpstreamCodec } from '../protocol.ts';
import { decodeError } from '../google/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { geminiUpstreamBatches } from './batches/index.ts';
import { encodeRequest, pathFor } from './requests/encode-request.ts';
import { SERVER_FACTS } from './server-facts.ts';

/** The upstream side of `generateContent` and `streamGenerateContent`. */
export const geminiUpstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/models',
  pathFor,
  headers: {},
  // The API has no field for these (API reference, `GenerationConfig` and `ToolConfig`, 2026-11).
  lacks: TABLE.lacks,
  functionsOnly: true,
  // Recorded: a stream ends with a signature on an empty text.
  signsLast: true,
  textOnly: new Set(['system', 'developer']),
  // Videos of YouTube and files of its own; other addresses only some models take, and not every type (documentation
  // "File input methods", 2026-11).
  takesUrl: (url) =>
    /^https:\/\/(?:(?:www\.)?youtube\.com\/|youtu\.be\/|generativelanguage\.googleapis\.com\/)/.test(url),
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
  batches: geminiUpstreamBatches,
};
