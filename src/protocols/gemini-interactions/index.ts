// Google's Interactions API: conversations whose state stays at Google. It passes as it is, between its own clients and
// Google; nothing is translated. The only file of this folder that others import.
import type { ServedProtocol } from '../protocol.ts';
import { relay } from './relay.ts';
import { interactionsServer } from './server.ts';
import { interactionsUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'gemini-interactions': true;
  }
}

export const geminiInteractions: ServedProtocol = {
  name: 'gemini-interactions',
  upstream: interactionsUpstream,
  relay,
  server: interactionsServer,
};
