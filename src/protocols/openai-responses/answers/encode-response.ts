// Encodes a collected answer as a response object.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CollectedEvents, Item } from '../../../canonical/index.ts';
import { requireFinish } from '../../errors/broken-answer.ts';
import { restOf } from '../../members/answer-rest.ts';
import type { AnswerContext } from '../../protocol.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { encodeOutputItem, isShown, ItemIds, type ItemStatus } from './encode-output-item.ts';
import { withoutSilentEnd } from './include-gates.ts';
import { encodeResponseObject, outcomeOf } from './encode-response-object.ts';

/**
 * Encodes a whole answer. A failed one contains the output before the failure.
 * @throws GatewayError `upstream_unavailable` if it never finished
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
  const idOf = shown.map((item, position) => ids.take(item, position));
  const encode = (item: Item, position: number, status: ItemStatus): JsonObject =>
    encodeOutputItem(item, idOf[position] ?? '', status, context);
  const output = withoutSilentEnd(shown.map((item, position) => encode(item, position, 'completed'))).slice();
  const end = output.length - 1;
  const last = shown[end];
  // The item that was being written when the answer ended is incomplete.
  if (last && outcome.status === 'incomplete') output[end] = encode(last, end, 'incomplete');
  const rest = events.finish && restOf(events.finish, ANSWER_MEMBERS).outer;
  return encodeResponseObject(context, events.start, outcome, output, events.usage, rest);
}
