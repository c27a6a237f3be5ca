// Facts that hold for every server of Gemini.
import type { ServerFacts } from '../protocol.ts';
import { GEMINI_REASONING } from './thought-signature.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-goog-api-key', prefix: '' },
  reasoningFormat: GEMINI_REASONING,
  reasoningStyles: ['effort', 'budget'],
  smallestBudget: 1,
  modelList: '/models?pageSize=1000',
  varies: {
    unknownFields: ['pass', 'drop'],
    prefill: ['plain'],
  },
};
