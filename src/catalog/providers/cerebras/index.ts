// Cerebras Inference: Chat Completions without several of OpenAI's parameters.
import { defineProvider, speaks } from '../provider.ts';

export const cerebras = defineProvider({
  id: 'cerebras',
  name: 'Cerebras',
  keyVariable: 'CEREBRAS_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.cerebras.ai/v1', {
      quirks: {
        // "OpenAI Compatibility": the developer role is not available; system has its level.
        systemRole: 'system',
        reasoningReplay: 'reasoning',
        customTools: false,
        // API reference: message parts are text.
        readsFiles: false,
        unknownFields: 'drop',
      },
      reasoningFormat: 'cerebras-reasoning-v1',
      // The types of its own SDK. It rejects another: "property 'body.prompt_cache_key' is unsupported".
      members: { user: true },
      // The same page: these are rejected with 400.
      unsupported: ['frequencyPenalty', 'presencePenalty', 'logitBias', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://inference-docs.cerebras.ai/resources/openai',
});
