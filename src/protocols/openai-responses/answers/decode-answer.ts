// Decodes the start and the end of a Responses answer, for streams and whole answers alike.
import type { JsonObject } from '../../../base/json/index.ts';
import { type EventSink, type FinishReason, type StartEvent, TEXTS } from '../../../canonical/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';
import { AnswerRest } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { decodeFailure } from './decode-error.ts';
import { decodeUsage } from './decode-usage.ts';
import type { ItemEmitter } from './answer-emitter.ts';

/** End of an answer: from the event's name, corrected by the response's own status. */
export type Ending = 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** Returns the first event, from the response object. */
export function decodeStart(response: JsonObject): StartEvent {
  return {
    type: 'start',
    id: asString(response['id']),
    model: asString(response['model']),
    created: asNumber(response['created_at']),
    serviceTier: asString(response['service_tier']),
  };
}

/**
 * Emits the end of an answer: missing items, token counts, and `finish` or `error`. Token counts also precede an error,
 * because a failed answer can be billed.
 * @param start of the answer, which often has no service tier but `auto`
 */
export function emitEnding(
  ending: Ending,
  response: JsonObject,
  emitter: ItemEmitter,
  sink: EventSink,
  start?: StartEvent,
): void {
  const end = endingOf(ending, response);
  // Items of a failed answer stay open, because they are incomplete.
  if (end === 'completed' || end === 'incomplete') emitter.complete(asArray(response['output']));
  const usage = decodeUsage(response['usage'], emitter.calls);
  if (usage) sink.on({ type: 'usage', usage });
  const rest = new AnswerRest(ANSWER_MEMBERS);
  rest.take(response);
  const { source } = rest;
  const tier = asString(response['service_tier']);
  const more = tier === start?.serviceTier ? { source } : { source, serviceTier: tier };
  switch (end) {
    case 'completed':
      sink.on({
        type: 'finish',
        reason: emitter.hasToolCalls ? 'tool_calls' : 'stop',
        raw: asString(response['status']) ?? end,
        ...more,
      });
      return;
    case 'incomplete': {
      const raw = asString(asObject(response['incomplete_details'])['reason']);
      sink.on({ type: 'finish', reason: incompleteReason(raw), raw, ...more });
      return;
    }
    case 'failed':
      sink.on({ type: 'error', error: decodeFailure(response['error']) });
      return;
    case 'cancelled':
      sink.on({ type: 'error', error: decodeFailure({ message: TEXTS.upstreamCancelled }) });
      return;
  }
}

/** Some servers send `response.completed` for every end, so the status inside decides. */
function endingOf(ending: Ending, response: JsonObject): Ending {
  switch (response['status']) {
    case 'failed':
    case 'incomplete':
    case 'cancelled':
      return response['status'];
    default:
      return response['error'] !== undefined && response['error'] !== null ? 'failed' : ending;
  }
}

function incompleteReason(reason: string | undefined): FinishReason {
  switch (reason) {
    case 'max_output_tokens':
    case 'max_tokens':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    // Newer reasons, such as `max_messages` and `steered`: the answer must not look complete.
    default:
      return 'incomplete';
  }
}
