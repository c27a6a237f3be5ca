// Where clients find the Responses API, and by what its bodies are known. What is kept has addresses of its own, which
// the gateway answers.
import type { ClientAddresses, ClientOperation } from '../protocol.ts';

const ANSWER: ClientOperation = { api: 'responses', does: 'answer' };

export const ADDRESSES: ClientAddresses = {
  routes: [
    { path: '/responses', operation: ANSWER },
    // Clients that take the path of the operation for the base URL call it twice.
    { path: '/responses/responses', operation: ANSWER },
    { path: '/responses/compact', operation: { api: 'responses.compact', does: 'compact' } },
    { path: '/responses/input_tokens', operation: { api: 'responses.input_tokens', does: 'count' } },
  ],
  looksOwn: (body) => Object.hasOwn(body, 'input'),
};
