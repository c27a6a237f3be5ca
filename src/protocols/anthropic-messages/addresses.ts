// Where clients find the Messages API, and by what they and their bodies are known.
import type { ClientAddresses } from '../protocol.ts';
import { encodeModel, encodeModelPage } from './encode-model-list.ts';

/** Sent with every request by Anthropic's own libraries. */
const VERSION_HEADER = 'anthropic-version';
const OWN_BASE = '/api/anthropic/';

export const ADDRESSES: ClientAddresses = {
  bases: [`${OWN_BASE}v1`],
  routes: [
    { path: '/messages', operation: { api: 'messages', does: 'answer' } },
    { path: '/messages/count_tokens', operation: { api: 'messages.count_tokens', does: 'count' } },
  ],
  isClient: ({ header, url }) => header(VERSION_HEADER) !== null || url.pathname.startsWith(OWN_BASE),
  // Chat Completions has `messages` and `max_tokens` too, but neither a header of its own nor a `system` beside them.
  looksOwn: (body, header) =>
    Object.hasOwn(body, 'messages') &&
    (header(VERSION_HEADER) !== null || (Object.hasOwn(body, 'max_tokens') && Object.hasOwn(body, 'system'))),
  models: { paths: [], encodeList: encodeModelPage, encodeModel },
};
