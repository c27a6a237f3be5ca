// Perplexity Sonar: answers grounded in a web search that always runs; no function tools.
import { defineProvider, speaks } from '../provider.ts';

export const perplexity = defineProvider({
  id: 'perplexity',
  name: 'Perplexity',
  keyVariable: 'PERPLEXITY_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.perplexity.ai', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        streamUsage: 'always',
        strictTools: false,
        customTools: false,
        messageName: false,
        // "Last message must have role user", and roles must alternate.
        adjacentRoles: 'merge',
        searchesWeb: true,
        // API reference, "Create Embeddings": no floats, neither as a list nor as base64.
        vectors: 'base64_int8',
      },
      tasks: { embeddings: { path: '/v1/embeddings' } },
      unsupported: ['logitBias', 'logprobs', 'topLogprobs', 'seed', 'stop', 'parallelToolCalls', 'verbosity'],
    }),
  },
  defaultProtocol: 'openai-chat',
  notServed: /^(llama-|r1-)/,
  docs: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
});
