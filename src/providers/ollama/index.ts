// Ollama on this machine: a subset of Chat Completions. Needs no key.
import { defineProvider, speaks } from '../provider.ts';

export const ollama = defineProvider({
  id: 'ollama',
  name: 'Ollama',
  keyVariable: null,
  selfHosted: true,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:11434/v1', {
      quirks: {
        // "OpenAI compatibility" (2026) lists `max_tokens`, `reasoning_effort`; tool_choice is not honoured.
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Recorded conversations carry earlier reasoning in `reasoning`.
        reasoningReplay: 'reasoning',
        strictTools: false,
        customTools: false,
        namedToolChoice: false,
        // The same page: base64 images only.
        fetchesUrls: false,
        // The same page: a message holds text and images.
        readsFiles: false,
      },
      reasoningFormat: 'ollama-reasoning-v1',
      unsupported: ['logitBias', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.ollama.com/api/openai-compatibility',
});
