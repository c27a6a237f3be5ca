// xAI: Chat Completions and a variant of Responses with encrypted reasoning that only xAI can read.
import { defineProvider, speaks } from '../provider.ts';

const BASE_URL = 'https://api.x.ai/v1';

export const xai = defineProvider({
  id: 'xai',
  name: 'xAI',
  keyVariable: 'XAI_API_KEY',
  priceId: 'x-ai',
  protocols: {
    'openai-chat': speaks(BASE_URL, {
      quirks: { customTools: false },
      reasoningFormat: 'xai-chat-v1',
      unsupported: ['logitBias', 'verbosity'],
    }),
    'openai-responses': speaks(BASE_URL, {
      quirks: { customTools: false, searchesWeb: true, runsMcp: true },
      reasoningFormat: 'xai-responses-v1',
      // Guide "Server-side tools" (2026-11).
      hostedTools: ['code_interpreter', 'file_search'],
      unsupported: ['verbosity'],
    }),
  },
  defaultProtocol: 'openai-responses',
  // Encrypted reasoning is available only in Responses.
  protocolOf: [{ match: /^/, protocol: 'openai-responses' }],
  notServed: /voice/,
  docs: 'https://docs.x.ai/docs/api-reference',
});
