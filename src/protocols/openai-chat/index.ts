// OpenAI's Chat Completions, in both directions. The only file of this folder that others import.
import type { ServedProtocol } from '../protocol.ts';
import { relay } from './relay.ts';
import { openaiChatServer } from './server.ts';
import { openaiChatUpstream } from './upstream.ts';

declare module '../../canonical/protocol-name.ts' {
  interface ProtocolNames {
    'openai-chat': true;
  }
}

export const openaiChat: ServedProtocol = {
  name: 'openai-chat',
  upstream: openaiChatUpstream,
  relay,
  server: openaiChatServer,
};
