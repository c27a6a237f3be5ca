// Google's Gemini protocol, in both directions. The only file of this folder that others import.
import type { ServedProtocol } from '../protocol.ts';
import { geminiEmbeddings } from './embeddings.ts';
import { counting, vertexCounting } from './count-tokens.ts';
import { relay } from './relay.ts';
import { geminiServer } from './server.ts';
import { geminiUpstream } from './upstream.ts';
import { vertexEmbeddings } from './vertex-embeddings.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    gemini: true;
  }
}

export const gemini: ServedProtocol = {
  name: 'gemini',
  upstream: geminiUpstream,
  counting,
  embeddings: geminiEmbeddings,
  hosted: { counting: vertexCounting, embeddings: vertexEmbeddings },
  relay,
  server: geminiServer,
};
