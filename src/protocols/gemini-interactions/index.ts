// Declaration of Google's Interactions API, whose conversations are stored by Google, and the only file of this folder
// that others import. It is relayed between its own clients and Google, and never translated.
import { type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import { decodeError } from '../google/decode-error.ts';
import { encodeError } from '../google/encode-error.ts';
import type {
  Ported,
  PortTarget,
  ServedProtocol,
  ServerCodec,
  ServerFacts,
  UpstreamCodec,
} from '../protocol.ts';
import { ADDRESSES } from './addresses.ts';
import { INTERACTIONS_REASONING } from './answers/answer-emitter.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { encodeResponse } from './answers/encode-response.ts';
import { encodeStream } from './answers/encode-stream.ts';
import { CLIENT_NAMES } from './fields.ts';
import { namedObjects } from './named-objects.ts';
import { outline } from './outline.ts';
import { relay } from './relay.ts';
import { remoteAnswers } from './remote-answers.ts';
import { decodeRequest } from './requests/decode-request.ts';
import { encodeRequest } from './requests/encode-request.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'gemini-interactions': true;
  }
}

/** Facts of every server of the Interactions API. */
const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-goog-api-key', prefix: '' },
  reasoningFormat: INTERACTIONS_REASONING,
  reasoningStyles: ['effort'],
  smallestBudget: 1,
  modelList: '/models?pageSize=1000',
  forOwnClients: true,
  varies: {},
};

const upstream: UpstreamCodec = {
  facts: SERVER_FACTS,
  path: '/interactions',
  headers: {},
  lacks: new Set(),
  encodeRequest,
  decodeResponse,
  decodeStream,
  decodeError,
};

const server: ServerCodec = {
  addresses: ADDRESSES,
  names: CLIENT_NAMES,
  outline,
  decodeRequest,
  namedObjects,
  portable,
  represents: new Set(),
  remoteAnswers,
  encodeResponse,
  encodeStream,
  encodeError,
};

export const geminiInteractions: ServedProtocol = {
  name: 'gemini-interactions',
  upstream,
  relay,
  server,
};

/**
 * Refuses other upstreams. Agents, environments and conversation state belong to one Google account, and cannot be
 * expressed in other protocols or found by other accounts.
 */
function portable(request: CanonicalRequest, { protocol, provider }: PortTarget): Ported {
  const { model, follows } = request;
  if (protocol !== request.protocol)
    throw new GatewayError('unsupported', `${model} is not available through the Interactions API`, {
      param: 'model',
    });
  const keeper = follows?.answer?.provider;
  if (keeper !== undefined && keeper !== provider)
    throw new GatewayError('unsupported', `${follows?.path}: is stored at ${keeper}, not at ${provider}`, {
      param: follows?.path,
    });
  return { request, restore: null };
}
