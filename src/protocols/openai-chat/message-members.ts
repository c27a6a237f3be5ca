// The members of request messages that the encoder writes itself, and where in the client's body a message
// stands.
import type { Item } from '../../canonical/index.ts';

/** Documented members of all roles, with the reasoning extensions: whatever else a message holds is unknown. */
export const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'audio',
  'tool_calls',
  'function_call',
  'tool_call_id',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'cache_control',
]);

/** The path of the message that items were decoded from: `messages[2]` for `messages[2].tool_calls[0]`. */
export function messagePath(items: readonly Item[]): string {
  for (const item of items) {
    if (item.path?.startsWith('messages[')) return item.path.slice(0, item.path.indexOf(']') + 1);
  }
  return 'messages';
}
