// OpenAI's own API. It defines both protocols it serves, so it is faithful to both. Which models go over
// Responses is a fact of the model family, not of this file.
import { defineProvider, speaks } from '../provider.ts';

const BASE_URL = 'https://api.openai.com/v1';

export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  keyVariable: 'OPENAI_API_KEY',
  protocols: {
    'openai-chat': speaks(BASE_URL, {
      faithful: true,
      quirks: {
        // Explicit prompt caching has its own field in this API; Anthropic's `cache_control` is unknown to it.
        cacheControl: false,
        // An unknown member is a 400 `unknown_parameter` (recorded 2026).
        unknownFields: 'drop',
      },
      unsupported: ['topK'],
    }),
    'openai-responses': speaks(BASE_URL, {
      faithful: true,
      quirks: { unknownFields: 'drop' },
      reasoningFormat: 'openai-responses-v1',
      unsupported: ['topK', 'seed', 'stop', 'frequencyPenalty', 'presencePenalty', 'logitBias'],
    }),
  },
  defaultProtocol: 'openai-chat',
  // Open-weight models, fine-tuning prefixes and names of the Azure flavour.
  notServed: /^(gpt-oss|ft:|gpt-35|computer-use)|\.ft-|:extended$/,
  docs: 'https://platform.openai.com/docs/api-reference/chat',
});
