// Facts that hold for every server of Converse.
import type { ServerFacts } from '../protocol.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  // Claude's is the only one that anybody has seen there.
  reasoningFormat: 'anthropic-claude-v1',
  reasoningStyles: ['effort', 'budget'],
  // Claude's again (documentation "Extended thinking", 2026-11).
  smallestBudget: 1024,
  // Models are listed at another host.
  modelList: null,
  namesEnds: true,
  varies: {
    strictTools: [true, false],
    prefill: ['plain'],
  },
};
