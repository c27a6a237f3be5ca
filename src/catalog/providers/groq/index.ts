// Groq: fast open-weight models behind Chat Completions.
import { defineProvider, speaks } from '../provider.ts';

export const groq = defineProvider({
  id: 'groq',
  name: 'Groq',
  keyVariable: 'GROQ_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.groq.com/openai/v1', {
      quirks: {
        systemRole: 'system',
        // The parsed form of its reasoning answers in `message.reasoning`, and is taken back there.
        reasoningReplay: 'reasoning',
        customTools: false,
        // API reference: the parts of a message are text and images.
        readsFiles: false,
        // "OpenAI Compatibility" (2026): `messages[].name` is a 400.
        messageName: false,
        // Guide "Assistant Message Prefilling".
        prefill: 'plain',
        unknownFields: 'drop',
      },
      reasoningFormat: 'groq-reasoning-v1',
      // API reference (2026-11). "property 'prompt_cache_key' is unsupported" is its answer to that one.
      members: { service_tier: ['auto', 'on_demand', 'flex', 'performance'], user: true },
      // The same page: these fields are a 400.
      unsupported: ['logitBias', 'logprobs', 'topLogprobs', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://console.groq.com/docs/openai',
});
