// Members of a message that canonical events hold, or that the gateway writes itself. All others are passed on to clients of this
// protocol: the container, for example, and applied context edits.
import type { HeldMembers } from '../../members/answer-rest.ts';

export const ANSWER_MEMBERS: HeldMembers = {
  protocol: 'anthropic-messages',
  // `message_delta` has some in `delta`, and others beside it.
  outer: new Set([
    'id',
    'type',
    'role',
    'model',
    'content',
    'stop_reason',
    'stop_sequence',
    'stop_details',
    'usage',
    'delta',
  ]),
};
