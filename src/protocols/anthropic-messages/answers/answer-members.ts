// Members of a message that canonical events hold, or that the gateway writes itself. All others are passed on to clients of this
// protocol: the container, for example, and applied context edits.
import type { HeldMembers } from '../../members/answer-rest.ts';

/** Members of the end, which `message_delta` has in its `delta`. */
const END = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

export const ANSWER_MEMBERS: HeldMembers = {
  protocol: 'anthropic-messages',
  outer: new Set(['id', 'type', 'role', 'model', 'content', ...END, 'usage', 'delta']),
  list: { name: 'delta', held: new Set([...END, 'container', 'usage']) },
};
