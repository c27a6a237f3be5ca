// OpenAI's Responses API: the parts put together. Knows nothing of stored state: the gateway keeps that itself.
import type { KeepingProtocol } from '../protocol.ts';
import { relay } from './relay.ts';
import { openaiResponsesServer } from './server.ts';
import { openaiResponsesUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'openai-responses': true;
  }
}

export const openaiResponses: KeepingProtocol = {
  name: 'openai-responses',
  upstream: openaiResponsesUpstream,
  relay,
  server: openaiResponsesServer,
};
