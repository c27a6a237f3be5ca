// A collected answer becomes the response object. Must not know where the answer came from.
import type { CollectedEvents, JsonObject } from '../../canonical/index.ts';
import { requireFinish } from '../broken-answer.ts';
import type { AnswerContext } from '../protocol.ts';
import { encodeOutputItem, isShown, ItemIds } from './encode-output-item.ts';
import { encodeResponseObject, outcomeOf } from './encode-response-object.ts';

/**
 * Encodes a whole answer; one that failed holds what was said before.
 * @throws GatewayError `upstream_unavailable` when it never finished
 */
export function encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject {
  const ids = new ItemIds(context.id);
  const shown = events.items.filter(isShown);
  const saysRefusal = shown.some(
    (item) => item.type === 'message' && item.parts.some((part) => part.type === 'refusal'),
  );
  const { error } = events;
  const outcome = error
    ? ({ status: 'failed', error } as const)
    : outcomeOf(requireFinish(events), saysRefusal);
  const output = shown.map((item, position) => {
    // What was being said when the answer ended is not complete.
    const isCut = outcome.status === 'incomplete' && position === shown.length - 1;
    return encodeOutputItem(item, ids.take(item, position), isCut ? 'incomplete' : 'completed', context);
  });
  return encodeResponseObject(context, events.start, outcome, output, events.usage);
}
