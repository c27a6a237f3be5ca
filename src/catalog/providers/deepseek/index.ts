// DeepSeek: Chat Completions with `reasoning_content`, which a thinking model demands back on tool turns.
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
        // Guide "Thinking Mode" (2026-08): `thinking: {type}` switches; effort words ride in `reasoning_effort`.
        reasoningField: 'thinking',
        reasoningReplay: 'reasoning_content',
        // Guide "JSON Output": `json_object` only.
        structuredOutput: 'json_object',
        strictTools: false,
        customTools: false,
        // API reference: the content of a message is text.
        readsFiles: false,
        // No `prefill`: "Chat Prefix Completion" needs the base URL /beta; set it with `prefill: prefix` there.
      },
      reasoningFormat: 'deepseek-reasoner-v1',
      unsupported: ['logitBias', 'seed', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://api-docs.deepseek.com/api/create-chat-completion',
});
