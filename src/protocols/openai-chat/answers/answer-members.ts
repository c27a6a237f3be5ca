// Members of a completion and its choice that canonical events hold, or that the gateway writes itself. All others are passed on
// to clients of this protocol: Azure's filter results, for example, and timings of other servers.
import type { HeldMembers } from '../../members/answer-rest.ts';

export const ANSWER_MEMBERS: HeldMembers = {
  protocol: 'openai-chat',
  outer: new Set([
    'id',
    'object',
    'created',
    'model',
    'choices',
    'usage',
    'error',
    'service_tier',
    'system_fingerprint',
  ]),
  list: {
    name: 'choices',
    held: new Set(['index', 'message', 'delta', 'logprobs', 'finish_reason', 'usage']),
  },
};
