// Anthropic Messages, as spoken to upstreams, to clients and between them. Only puts the parts together.
import type { Parameter } from '../../canonical/index.ts';
import type { ServedProtocol } from '../protocol.ts';
import { counting } from './count-tokens.ts';
import { decodeError } from './decode-error.ts';
import { decodeLimits } from './decode-limits.ts';
import { decodeResponse } from './decode-response.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { relay } from './relay.ts';
import { anthropicMessagesServer } from './server.ts';
import { SERVER_FACTS } from './server-facts.ts';

/** The Messages API has no field for these (API reference "Create a Message", 2026-11). */
const LACKS: readonly Parameter[] = [
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'logprobs',
  'topLogprobs',
  'seed',
  'verbosity',
];

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'anthropic-messages': true;
  }
}

export const anthropicMessages: ServedProtocol = {
  name: 'anthropic-messages',
  upstream: {
    facts: SERVER_FACTS,
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    lacks: new Set(LACKS),
    schemasOnly: true,
    functionsOnly: true,
    textOnly: new Set(['assistant', 'system', 'developer']),
    encodeRequest,
    decodeResponse,
    decodeStream,
    decodeError,
    decodeLimits,
  },
  counting,
  server: anthropicMessagesServer,
  relay,
};
