// Addresses of the Interactions API for clients, below Google's API versions and the gateway's base paths.
import { z } from 'zod';
import { eventStream } from '../members/described-shapes.ts';
import { ERROR_SHAPE } from '../google/error-shape.ts';
import type { ClientAddresses, ClientDescription } from '../protocol.ts';

/** Absolute paths of the collections. Single interactions are below them. */
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
    describes: describeInteraction,
  })),
  errors: ERROR_SHAPE,
  headersInQuery: { 'x-goog-api-key': 'key' },
  looksOwn: (body) =>
    !Object.hasOwn(body, 'contents') && OWN_MEMBERS.some((member) => Object.hasOwn(body, member)),
};

/** Members that all descriptions of interactions share. */
export const INTERACTIONS = {
  tag: 'Interactions',
  answer: z.looseObject({ id: z.string() }),
} as const;

function describeInteraction(): ClientDescription {
  return {
    ...INTERACTIONS,
    id: 'createInteraction',
    summary: 'Forwards an interaction to Google. Only models of Google support interactions.',
    body: z.looseObject({ model: z.string().min(1) }),
    alsoAs: { 'text/event-stream': eventStream },
  };
}
