// Declaration of OpenAI's Chat Completions, and the only file of this folder that others import. Deviations of a server
// from OpenAI's definition are quirks of the target.
import { openaiBatches } from '../openai/batches.ts';
import { encodeError } from '../openai/encode-error.ts';
import { openaiUpstreamBatches } from '../openai/upstream-batches.ts';
import type { ServedProtocol, ServerCodec, ServerFacts, UpstreamCodec } from '../protocol.ts';
import { announcedRateLimits, decodeRateLimitHeaders } from '../usage/rate-limit-headers.ts';
import { ADDRESSES } from './addresses.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { CLIENT_NAMES, KNOWN_FIELDS, REQUEST_FIELDS, TABLE } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { relay } from './relay.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeRequest } from './requests/encode-request.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'openai-chat': true;
  }
}

/** Facts of every Chat Completions server. Many vendors implement the protocol, each with a different subset. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  reasoningFormat: null,
  reasoningStyles: ['effort', 'budget'],
  smallestBudget: 1,
  modelList: '/models',
  hasSiblings: true,
  // llama.cpp, vLLM and LM Studio know them. Other servers ignore or reject them.
  extraParameters: ['topK', 'seed'],
  namesEnds: true,
  varies: {
    maxTokensField: ['max_completion_tokens', 'max_tokens'],
    systemRole: ['keep', 'system', 'developer'],
    mergeSystem: [true, false],
    textContent: ['parts', 'string'],
    unknownFields: ['pass', 'drop'],
    requiredToolChoice: ['required', 'any'],
    namedToolChoice: [true, false],
    strictTools: [true, false],
    structuredOutput: ['json_schema', 'json_object', 'none'],
    streamUsage: ['include_usage', 'always'],
    reasoningField: ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs'],
    reasoningReplay: ['reasoning_details', 'reasoning_content', 'reasoning'],
    prefill: ['plain', 'continue_final_message', 'prefix', 'partial'],
  },
};

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/chat/completions',
  headers: {},
  // OpenAI refuses `top_k`. Servers that accept it do so as an extension.
  lacks: TABLE.lacks,
  // Images are fetched. Files must be inline in `file_data` (API reference, "File content part").
  takesUrl: (_url, type) => type === 'image',
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
  decodeLimits: decodeRateLimitHeaders,
  batches: openaiUpstreamBatches,
  announcedLimits: announcedRateLimits,
};

const server: ServerCodec = {
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

export const openaiChat: ServedProtocol = {
  name: 'openai-chat',
  upstream,
  relay,
  server,
};
