// Where clients of the Interactions API find it: below Google's own versions of the API, and below the gateway's bases.
import type { ClientAddresses } from '../protocol.ts';

/** Collections of interactions, as whole paths; one interaction stands below. */
export const COLLECTIONS = [
  '/v1beta/interactions',
  '/v1/interactions',
  '/api/v1/interactions',
  '/api/v1beta/interactions',
  '/api/v1beta1/interactions',
] as const;

/** Members that no other protocol's requests have. */
const OWN_MEMBERS = ['agent', 'previous_interaction_id', 'generation_config', 'system_instruction'] as const;

export const ADDRESSES: ClientAddresses = {
  routes: COLLECTIONS.map((path) => ({
    path,
    isWhole: true as const,
    operation: { api: 'interactions', does: 'answer' as const },
  })),
  headersInQuery: { 'x-goog-api-key': 'key' },
  looksOwn: (body) =>
    !Object.hasOwn(body, 'contents') && OWN_MEMBERS.some((member) => Object.hasOwn(body, member)),
};
