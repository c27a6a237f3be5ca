// Where clients find Chat Completions, and the embeddings beside it.
import type { ClientAddresses } from '../protocol.ts';

export const ADDRESSES: ClientAddresses = {
  routes: [
    { path: '/chat/completions', operation: { api: 'chat.completions', does: 'answer' } },
    { path: '/embeddings', operation: { api: 'embeddings', does: 'embed' } },
  ],
};
