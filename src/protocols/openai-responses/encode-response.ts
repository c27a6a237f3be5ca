// A collected answer becomes the response object. Must not know where the answer came from.
import type { CollectedEvents, JsonObject } from '../../canonical/index.ts';
import { requireFinish } from '../broken-answer.ts';
import type { AnswerContext } from '../protocol.ts';
import { encodeOutputItem, isShown, ItemIds } from './encode-output-item.ts';
import { encodeResponseObject, outcomeOf } from './encode-response-object.ts';

/**
 * Encodes a whole answer.
 * @throws GatewayError the answer's own error, or `upstream_unavailable` when it never finished
 */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const finish = requireFinish(events);
  const ids = new ItemIds(context.id);
  const shown = events.items.filter(isShown);
  const saysRefusal = shown.some(
    (item) => item.type === 'message' && item.parts.some((part) => part.type === 'refusal'),
  );
  const outcome = outcomeOf(finish, saysRefusal);
  const output = shown.map((item, position) => {
    // What was being said when the answer ended is not complete.
    const isCut = outcome.status === 'incomplete' && position === shown.length - 1;
    return encodeOutputItem(item, ids.take(item, position), isCut ? 'incomplete' : 'completed', context);
  });
  return encodeResponseObject(context, events.start, outcome, output, events.usage);
}
