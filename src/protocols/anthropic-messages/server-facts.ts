// Facts that hold for every server of the Messages API.
import type { ServerFacts } from '../protocol.ts';
import { CLAUDE_REASONING } from './foreign-reasoning.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-api-key', prefix: '' },
  reasoningFormat: CLAUDE_REASONING,
  reasoningStyles: ['effort', 'budget'],
  // Documentation "Extended thinking", 2026-11.
  smallestBudget: 1024,
  modelList: '/v1/models?limit=1000',
  hasSiblings: true,
  namesEnds: true,
  varies: {
    unknownFields: ['pass', 'drop'],
    strictTools: [true, false],
    prefill: ['plain'],
  },
};
