// Anthropic Messages, as spoken to upstreams, to clients and between them. Only puts the parts together.
import type { ServedProtocol } from '../protocol.ts';
import { relay } from './relay.ts';
import { anthropicMessagesServer } from './server.ts';
import { anthropicMessagesUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'anthropic-messages': true;
  }
}

export const anthropicMessages: ServedProtocol = {
  name: 'anthropic-messages',
  upstream: anthropicMessagesUpstream,
  server: anthropicMessagesServer,
  relay,
};
