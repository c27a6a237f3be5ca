// OpenRouter: an aggregator that normalises to Chat Completions with `reasoning` and `reasoning_details`.
// The format of opaque reasoning is that of the model behind it: the family table decides by model name.
import { defineProvider, speaks } from '../provider.ts';

export const openrouter = defineProvider({
  id: 'openrouter',
  name: 'OpenRouter',
  keyVariable: 'OPENROUTER_API_KEY',
  protocols: {
    'openai-chat': speaks('https://openrouter.ai/api/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        reasoningField: 'reasoning',
        reasoningReplay: 'reasoning_details',
        customTools: false,
        cacheControl: true,
        // "Assistant Prefill" in the API overview; not for every model: family table.
        prefill: 'plain',
      },
      // Unsupported sampling parameters are ignored by it, not refused.
      unsupported: ['webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  // Names without a vendor and the floating `~vendor/model-latest` ones.
  notServed: /^[^/]+$|^~/,
  docs: 'https://openrouter.ai/docs/api-reference/overview',
});
