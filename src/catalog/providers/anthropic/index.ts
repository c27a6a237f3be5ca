// Anthropic's own API: the definition of the Messages protocol.
import { defineProvider, speaks } from '../provider.ts';

export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  auth: { header: 'x-api-key', prefix: '' },
  protocols: {
    'anthropic-messages': speaks('https://api.anthropic.com', {
      faithful: true,
      quirks: {
        cacheControl: true,
        searchesWeb: true,
        // "Extended thinking": excludes forced tool choice, prefill and sampling parameters.
        exclusiveReasoning: true,
        // "Prefill Claude's response". Models from 4.6 on reject it: family table.
        prefill: 'plain',
      },
      reasoningFormat: 'anthropic-claude-v1',
    }),
  },
  defaultProtocol: 'anthropic-messages',
  // "Batch processing" guide, 2026-11: half of all rates.
  batchPriceFactor: 0.5,
  docs: 'https://platform.claude.com/docs/en/api/messages',
});
