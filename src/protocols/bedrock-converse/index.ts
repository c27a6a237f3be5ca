// Amazon Bedrock's Converse API, as spoken to upstreams only: no client speaks it to the gateway. Only puts the parts
// together.
import { lackingBut } from '../../canonical/index.ts';
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
  // Claude's is the only one that anybody has seen there.
  reasoningFormat: 'anthropic-claude-v1',
  reasoningStyles: ['effort', 'budget'],
  // Claude's again (documentation "Extended thinking", 2026-11).
  smallestBudget: 1024,
  // Models are listed at another host.
  modelList: null,
  namesEnds: true,
  varies: {
    strictTools: [true, false],
    prefill: ['plain'],
  },
};

/** Converse has a field for these alone (API reference "Converse", 2026-11); models name others as they like. */
const LACKS = lackingBut(['temperature', 'topP', 'stop']);

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/model',
  pathFor,
  headers: { accept: '*/*' },
  lacks: LACKS,
  schemasOnly: true,
  functionsOnly: true,
  textOnly: new Set(['assistant', 'system', 'developer']),
  // Bytes, or an `s3:` address (API reference "ImageSource", "DocumentSource", 2026-11).
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

/** The model and the mode stand in the path. A model may be named by its ARN, whose slashes are escaped. */
function pathFor(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}
