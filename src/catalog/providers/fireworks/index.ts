// Fireworks AI: open-weight models over Chat Completions, named `accounts/fireworks/models/…`.
import { defineProvider, speaks } from '../provider.ts';

export const fireworks = defineProvider({
  id: 'fireworks',
  name: 'Fireworks AI',
  keyVariable: 'FIREWORKS_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.fireworks.ai/inference/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        reasoningReplay: 'reasoning_content',
        strictTools: false,
        customTools: false,
      },
      reasoningFormat: 'fireworks-reasoning-v1',
      unsupported: ['verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.fireworks.ai/api-reference/post-chatcompletions',
});
