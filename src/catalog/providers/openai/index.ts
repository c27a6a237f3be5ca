// OpenAI's API, which defines both protocols, so that it is faithful in both. The family table decides which models use
// Responses.
import { defineProvider, speaks } from '../provider.ts';

const BASE_URL = 'https://api.openai.com/v1';

export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  keyVariable: 'OPENAI_API_KEY',
  protocols: {
    'openai-chat': speaks(BASE_URL, {
      faithful: true,
    }),
    'openai-responses': speaks(BASE_URL, {
      faithful: true,
      quirks: { searchesWeb: true, runsMcp: true },
      reasoningFormat: 'openai-responses-v1',
      compacts: true,
    }),
  },
  defaultProtocol: 'openai-chat',
  // "Batch API" guide, 2026-11: half of all rates.
  batchPriceFactor: 0.5,
  // Open-weight models, prefixes of fine-tuned models, and Azure's names.
  notServed: /^(gpt-oss|ft:|gpt-35|computer-use)|\.ft-|:extended$/,
  docs: 'https://platform.openai.com/docs/api-reference/chat',
});
