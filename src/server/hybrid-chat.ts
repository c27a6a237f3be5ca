// Chat Completions as this server speaks it: bodies that mix in the forms of other protocols are read as well. Only puts
// the codecs together.
import { decodeHybrid, type Readers } from './hybrid-request.ts';
import { withServer } from './reply.ts';

const chat = withServer('openai-chat');

const readers: Readers = {
  'openai-chat': chat.server,
  'openai-responses': withServer('openai-responses').server,
  'anthropic-messages': withServer('anthropic-messages').server,
};

/** Chat Completions that also takes bodies in the form of the Responses API or of Anthropic's Messages, whole or in part. */
export const hybridChat: typeof chat = {
  ...chat,
  server: { ...chat.server, decodeRequest: (body, route) => decodeHybrid(body, readers, route) },
};
