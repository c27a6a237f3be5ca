// LM Studio on this machine. Needs no key.
import { defineProvider, OWN_MACHINE, speaks } from '../provider.ts';

export const lmStudio = defineProvider({
  id: 'lm-studio',
  name: 'LM Studio',
  keyVariable: null,
  selfHosted: true,
  patience: OWN_MACHINE,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:1234/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // gpt-oss uses `reasoning`, all others `reasoning_content` ("API Changelog", 0.3.9 and 0.3.23). The gateway reads
        // both.
        reasoningReplay: 'reasoning_content',
        strictTools: false,
        customTools: false,
        // "none", "auto" or "required" ("API Changelog", 0.3.15).
        namedToolChoice: false,
        // It responds "'url' field must be a base64 encoded image" (2026).
        fetchesUrls: false,
        // Its chat reads documents; its API accepts text and images.
        readsFiles: false,
      },
      reasoningFormat: 'lm-studio-reasoning-v1',
      // "Supported payload parameters" (2026-11) includes `top_k`, `logit_bias` and `seed`, but none of the unsupported
      // ones.
      alsoTakes: ['topK'],
      unsupported: ['logprobs', 'topLogprobs', 'parallelToolCalls', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  measured:
    'Not measured in this version of the gateway: the quirks were compared with its documentation on 2026-11-24. It speaks Responses (since 0.3.29) and Messages (since 0.4.1) as well, of which it documents no limits: name them below `protocols` to use them. `dragoman doctor` asks your own server.',
  docs: 'https://lmstudio.ai/docs/developer/openai-compat',
});
