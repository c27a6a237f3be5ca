// Together AI: open-weight models over Chat Completions.
import { defineProvider, speaks } from '../provider.ts';

export const together = defineProvider({
  id: 'together',
  name: 'Together AI',
  keyVariable: 'TOGETHER_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.together.xyz/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        reasoningReplay: 'reasoning',
        strictTools: false,
        customTools: false,
      },
      reasoningFormat: 'together-reasoning-v1',
      // `logprobs` is a number of alternatives instead of a boolean.
      unsupported: ['logprobs', 'topLogprobs', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.together.ai/reference/chat-completions-1',
});
