// OpenRouter: an aggregator that normalises to Chat Completions with `reasoning` and `reasoning_details`. The format of
// opaque reasoning is the model's own, by the family table.
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
        // "Assistant Prefill" in the API overview; some models do not support it: family table.
        prefill: 'plain',
      },
      // Unsupported sampling parameters are ignored instead of rejected.
      unsupported: ['webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  // Names without a vendor, and the moving aliases `~vendor/model-latest`.
  notServed: /^[^/]+$|^~/,
  docs: 'https://openrouter.ai/docs/api-reference/overview',
});
