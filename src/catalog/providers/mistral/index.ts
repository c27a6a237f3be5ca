// Mistral's API: a strict variant of Chat Completions (unknown members are rejected with 422).
import { defineProvider, speaks } from '../provider.ts';

export const mistral = defineProvider({
  id: 'mistral',
  name: 'Mistral AI',
  keyVariable: 'MISTRAL_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.mistral.ai/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Usage is always in the last chunk; `stream_options` is an unknown member.
        streamUsage: 'always',
        // Guide "Reasoning": chunks of type `thinking` before the text, sent back unchanged.
        reasoningReplay: 'thinking_parts',
        customTools: false,
        // API reference, "FileChunk": only ids of uploaded files.
        readsFiles: false,
        messageName: false,
        requiredToolChoice: 'any',
        // "Tool call id must be a-z, A-Z, 0-9, with a length of 9."
        toolCallId: 'alphanumeric-9',
        // API reference, "AssistantMessage", `prefix`; the answer repeats the text (guide "Prefix", from memory).
        prefill: 'prefix',
        unknownFields: 'drop',
        // API reference, "Embeddings": `output_dtype` and `output_dimension`.
        vectors: 'output_dtype',
      },
      reasoningFormat: 'mistral-magistral-v1',
      // API reference, "Chat Completion" (2026-11); `prompt_cache_key` was also recorded.
      members: { metadata: true, prompt_cache_key: true },
      // `seed` is called `random_seed`; it is reported instead of sent.
      unsupported: ['logitBias', 'logprobs', 'topLogprobs', 'seed', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  notServed: /:free$|^mistral-small-.*-instruct/,
  docs: 'https://docs.mistral.ai/api/#tag/chat',
});
