// Keeps a turn after it succeeded: the response under its id, and its items in the conversation it belongs to.
import { asObject, type JsonObject, parseJson } from '../../base/json/index.ts';
import { type CollectedEvents, INCLUDABLE } from '../../canonical/index.ts';
import { nextTurn } from '../../base/runtime/clock.ts';
import { type AnswerContext, withoutCredentials } from '../../protocols/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Arrival } from '../call.ts';
import type { KeptAnswer } from '../kept-answer.ts';
import { outputOf, type TurnInput } from '../admit/index.ts';
import { expiryOf } from '../settings.ts';

const LONG_CHARS = 256_000;
/** About what an annotation is in JSON. */
const ANNOTATION_CHARS = 150;

/** An answer as its client gets it: the text that was relayed, or events with all reasoning sealed. */
export type GivenAnswer = { readonly relayed: string } | { readonly events: CollectedEvents };

/** Resolves when the turn would survive the death of the process. Rejects when it could not be kept. */
export async function keepTurn(
  turn: TurnInput,
  answer: GivenAnswer,
  context: AnswerContext,
  arrival: Arrival,
  deps: GatewayDependencies,
): Promise<KeptAnswer> {
  const { state, items, history } = turn;
  const { call, settings } = arrival;
  const { createdAt, expiresAt } = call.job ?? {
    createdAt: arrival.createdAt,
    expiresAt: expiryOf(settings, arrival.createdAt),
  };
  const { projectId } = call.principal;
  // Earlier work in this turn of the loop, the end of the answer's reading, took its time as well.
  if (isLong(answer)) await new Promise<void>(nextTurn);
  const response = answerBody(answer, context, arrival);
  // The answer of a job is read when it is there, and kept for a while at least.
  if (!state.store && !call.job?.isKept) {
    const said = [...items, ...outputOf(response)];
    call.memory?.remember(String(response['id']), [...history.items, ...said]);
    if (state.conversationId !== undefined)
      await deps.state.conversations.appendTurn(projectId, state.conversationId, said);
    return { response, text: undefined };
  }
  // Turns that only the connection remembers must be stored with what builds on them.
  const { recalled = false } = history;
  const stored = {
    id: String(response['id']),
    projectId,
    createdAt,
    expiresAt,
    previousId: recalled ? null : (state.previousResponseId ?? null),
    conversationId: state.conversationId ?? null,
    response,
    input: recalled ? [...history.items, ...items] : items,
  };
  try {
    const text = await deps.state.responses.put(stored, state.conversationId);
    return { response, text };
  } catch (error) {
    call.job?.unkept(stored, state.conversationId, error);
    throw error;
  }
}

/** The body of an answer as it is kept. */
export function answerBody(answer: GivenAnswer, context: AnswerContext, arrival: Arrival): JsonObject {
  return 'relayed' in answer
    ? // An upstream may repeat what it got for tools that it runs.
      asObject(withoutCredentials(parseJson(answer.relayed) ?? null))
    : encodeAll(answer.events, context, arrival);
}

/** Whether the others' answers would have to wait noticeably while this one is made into an object, and that into JSON. */
function isLong(answer: GivenAnswer): boolean {
  if ('relayed' in answer) return answer.relayed.length > LONG_CHARS;
  return answer.events.items.some(
    (item) =>
      item.type === 'message' &&
      item.parts.some(
        (part) =>
          part.type === 'text' &&
          part.text.length + (part.annotations?.length ?? 0) * ANNOTATION_CHARS > LONG_CHARS,
      ),
  );
}

/** The response with every member that a later request may ask for. */
function encodeAll(events: CollectedEvents, context: AnswerContext, { call }: Arrival): JsonObject {
  const { request } = context;
  const state = request.state && { ...request.state, include: INCLUDABLE };
  return call.protocol.server.encodeResponse(events, { ...context, request: { ...request, state } });
}
