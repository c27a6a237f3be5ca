// Google's Gemini protocol, in both directions. The only file of this folder that others import.
import type { ServedProtocol } from '../protocol.ts';
import { relay } from './relay.ts';
import { geminiServer } from './server.ts';
import { geminiUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    gemini: true;
  }
}

export const gemini: ServedProtocol = {
  name: 'gemini',
  upstream: geminiUpstream,
  relay,
  server: geminiServer,
};
