// LM Studio on this machine. Needs no key.
import { defineProvider, speaks } from '../provider.ts';

export const lmStudio = defineProvider({
  id: 'lm-studio',
  name: 'LM Studio',
  keyVariable: null,
  selfHosted: true,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:1234/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        reasoningReplay: 'reasoning_content',
        strictTools: false,
        customTools: false,
        namedToolChoice: false,
        // It answers "'url' field must be a base64 encoded image" (2026).
        fetchesUrls: false,
        // Its chat reads documents; its API takes text and images.
        readsFiles: false,
      },
      reasoningFormat: 'lm-studio-reasoning-v1',
      unsupported: ['logprobs', 'topLogprobs', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://lmstudio.ai/docs/developer/openai-compat',
});
