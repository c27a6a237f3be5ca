// Stores a successful turn: the response by its id, and its items in its conversation; or the turn of a thread.
import { asObject, type JsonObject, parseJson } from '../../base/json/index.ts';
import { type CollectedEvents, INCLUDABLE, type ThreadTurn } from '../../canonical/index.ts';
import { nextTurn } from '../../base/runtime/clock.ts';
import { type AnswerContext, type ThreadCodec, withoutCredentials } from '../../protocols/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Arrival } from '../call.ts';
import type { KeptAnswer } from '../kept-answer.ts';
import { outputOf, storedTurn, type TurnInput } from '../admit/index.ts';
import { expiryOf } from '../settings.ts';

const LONG_CHARS = 256_000;
/** Approximate size of an annotation in JSON. */
const ANNOTATION_CHARS = 150;

/** An answer as the client receives it: the relayed text, or events with sealed reasoning. */
export type GivenAnswer = { readonly relayed: string } | { readonly events: CollectedEvents };

/** Resolves once the turn is stored durably. Rejects when it could not be stored. */
export async function storeTurn(
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
  // Reading the end of the answer has already taken time in this turn of the event loop.
  if (isLong(answer)) await new Promise<void>(nextTurn);
  const response = answerBody(answer, context, arrival);
  // A job's answer is read from storage, so it is stored at least temporarily.
  if (!state.store && !call.job?.isKept) {
    const said = [...items, ...outputOf(response)];
    call.memory?.remember(String(response['id']), [...history.items, ...said]);
    if (state.conversationId !== undefined)
      await deps.state.conversations.appendTurn(projectId, state.conversationId, said);
    return { response, text: undefined };
  }
  // Turns remembered only for the connection must be stored together with those that continue them.
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
    const origin = { appendTo: state.conversationId, isByJob: call.job?.isKept === true };
    const text = await deps.state.responses.put(stored, origin);
    return { response, text };
  } catch (error) {
    call.job?.notStored(stored, state.conversationId, error);
    throw error;
  }
}

/**
 * Stores a turn of a thread by the id of its answer, with the retention of responses: its new messages, and the answer as
 * sent. Resolves once it is stored durably. Rejects when it could not be stored.
 */
export async function storeThread(
  { turn, codec }: { readonly turn: ThreadTurn; readonly codec: ThreadCodec },
  answer: GivenAnswer,
  context: AnswerContext,
  arrival: Arrival,
  deps: Pick<GatewayDependencies, 'state'>,
): Promise<undefined> {
  const { call, settings, createdAt } = arrival;
  const id = codec.answerId(arrival.id);
  await deps.state.responses.put({
    id,
    projectId: call.principal.projectId,
    createdAt,
    expiresAt: expiryOf(settings, createdAt),
    previousId: turn.previousId ?? null,
    conversationId: null,
    response: storedTurn(id, turn, answerBody(answer, context, arrival)),
    input: turn.messages,
  });
  return undefined;
}

/** The body of an answer in stored form. */
function answerBody(answer: GivenAnswer, context: AnswerContext, arrival: Arrival): JsonObject {
  return 'relayed' in answer
    ? // An upstream may echo credentials of tools that it runs.
      asObject(withoutCredentials(parseJson(answer.relayed) ?? null))
    : encodeAll(answer.events, context, arrival);
}

/** True when serialising the answer would delay other requests noticeably. */
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

/** The response with every member that a later request may include. */
function encodeAll(events: CollectedEvents, context: AnswerContext, { call }: Arrival): JsonObject {
  const { request } = context;
  const state = request.state && { ...request.state, include: INCLUDABLE };
  return call.protocol.server.encodeResponse(events, { ...context, request: { ...request, state } });
}
