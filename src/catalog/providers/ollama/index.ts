// Ollama on this machine: a subset of Chat Completions. Needs no key.
import { defineProvider, OWN_MACHINE, speaks } from '../provider.ts';

export const ollama = defineProvider({
  id: 'ollama',
  name: 'Ollama',
  keyVariable: null,
  selfHosted: true,
  patience: OWN_MACHINE,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:11434/v1', {
      quirks: {
        // "OpenAI compatibility" (read 2026-11-24) lists `max_tokens` and `reasoning_effort`, but not `tool_choice`.
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Recorded conversations contain earlier reasoning in `reasoning`.
        reasoningReplay: 'reasoning',
        strictTools: false,
        customTools: false,
        namedToolChoice: false,
        // The same page: only base64 images.
        fetchesUrls: false,
        // The same page: messages contain text and images.
        readsFiles: false,
      },
      reasoningFormat: 'ollama-reasoning-v1',
      unsupported: ['logitBias', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  // Source code of the Responses API (openai/responses.go at 017eb8a, read 2026-11-24).
  lesserProtocols: {
    'openai-responses': speaks('http://127.0.0.1:11434/v1', {
      quirks: {
        customTools: false,
        strictTools: false,
        smallLimits: true,
        // Every answer is `completed`, even if it was truncated.
        namesCutAnswers: false,
        // "OpenAI compatibility" does not mention image URLs; "file inputs are not currently supported" (source).
        fetchesUrls: false,
        readsFiles: false,
        // "tool_choice is not supported" (source).
        namedToolChoice: false,
      },
      reasoningFormat: 'ollama-reasoning-v1',
      unsupported: ['verbosity', 'webSearch', 'parallelToolCalls', 'logprobs', 'topLogprobs'],
    }),
  },
  defaultProtocol: 'openai-chat',
  measured:
    'Not measured in this version of the gateway: the quirks come from its documentation and source (read 2026-11-24). `dragoman doctor` asks your own server.',
  docs: 'https://docs.ollama.com/api/openai-compatibility',
});
