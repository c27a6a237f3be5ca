// DeepSeek: Chat Completions with `reasoning_content`, which thinking models require back in tool turns.
import { defineProvider, speaks } from '../provider.ts';

export const deepseek = defineProvider({
  id: 'deepseek',
  name: 'DeepSeek',
  keyVariable: 'DEEPSEEK_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.deepseek.com/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Guide "Thinking Mode" (2026-08): `thinking: {type}` is the switch; efforts are sent in `reasoning_effort`.
        reasoningField: 'thinking',
        reasoningReplay: 'reasoning_content',
        // Guide "JSON Output": `json_object` only.
        structuredOutput: 'json_object',
        strictTools: false,
        customTools: false,
        // API reference: message content is text.
        readsFiles: false,
        // `prefill` is omitted: "Chat Prefix Completion" needs the base URL /beta; configure `prefill: prefix` with it.
      },
      reasoningFormat: 'deepseek-reasoner-v1',
      unsupported: ['logitBias', 'seed', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://api-docs.deepseek.com/api/create-chat-completion',
});
