// Declaration of Amazon Bedrock's Converse API, for upstreams only.
import { unsupportedExcept } from '../../canonical/index.ts';
import type { Protocol, ServerFacts, UpstreamCodec } from '../protocol.ts';
import { decodeError } from './answers/decode-error.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeRequest } from './requests/encode-request.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'bedrock-converse': true;
  }
}

/** Facts of every server of Converse. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  // Claude's format, because no other was observed there.
  reasoningFormat: 'anthropic-claude-v1',
  reasoningStyles: ['effort', 'budget'],
  // Claude's minimum (documentation "Extended thinking", 2026-11).
  smallestBudget: 1024,
  // Models are listed at another host.
  modelList: null,
  namesEnds: true,
  varies: {
    strictTools: [true, false],
    prefill: ['plain'],
  },
};

/** Converse has members only for these (API reference "Converse", 2026-11). Others have model-specific names. */
const LACKS = unsupportedExcept(['temperature', 'topP', 'stop']);

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/model',
  pathFor,
  headers: { accept: '*/*' },
  lacks: LACKS,
  schemasOnly: true,
  functionsOnly: true,
  textOnly: new Set(['assistant', 'system', 'developer']),
  // Only bytes, or an `s3:` URI (API reference "ImageSource", "DocumentSource", 2026-11).
  takesUrl: () => false,
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
};

export const bedrockConverse: Protocol = {
  name: 'bedrock-converse',
  upstream,
};

/** Returns the path with model and mode. A model can be an ARN, whose slashes are escaped. */
function pathFor(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}
