// xAI: Chat Completions and a Responses dialect of its own (encrypted reasoning only it can read).
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
  // Its encrypted reasoning is given, and taken back, there alone.
  protocolOf: [{ match: /^/, protocol: 'openai-responses' }],
  notServed: /voice/,
  docs: 'https://docs.x.ai/docs/api-reference',
});
