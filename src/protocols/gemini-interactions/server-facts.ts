// Facts that hold for every server of the Interactions API.
import type { ServerFacts } from '../protocol.ts';

/** Signatures of thoughts, which only this API reads back. */
export const INTERACTIONS_REASONING = 'google-interactions-v1';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'x-goog-api-key', prefix: '' },
  reasoningFormat: INTERACTIONS_REASONING,
  reasoningStyles: ['effort'],
  smallestBudget: 1,
  modelList: '/models?pageSize=1000',
  forOwnClients: true,
  varies: {},
};
