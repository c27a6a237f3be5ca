// Groq: fast open-weight models over Chat Completions.
import { defineProvider, speaks } from '../provider.ts';

export const groq = defineProvider({
  id: 'groq',
  name: 'Groq',
  keyVariable: 'GROQ_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.groq.com/openai/v1', {
      quirks: {
        systemRole: 'system',
        // With parsed reasoning, it is returned in `message.reasoning`, and accepted there.
        reasoningReplay: 'reasoning',
        customTools: false,
        // API reference: message parts are text and images.
        readsFiles: false,
        // "OpenAI Compatibility" (2026): `messages[].name` is rejected with 400.
        messageName: false,
        // Guide "Assistant Message Prefilling".
        prefill: 'plain',
        unknownFields: 'drop',
      },
      reasoningFormat: 'groq-reasoning-v1',
      // API reference (2026-11). It rejects another: "property 'prompt_cache_key' is unsupported".
      members: { service_tier: ['auto', 'on_demand', 'flex', 'performance'], user: true },
      // The same page: these members are rejected with 400.
      unsupported: ['logitBias', 'logprobs', 'topLogprobs', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://console.groq.com/docs/openai',
});
