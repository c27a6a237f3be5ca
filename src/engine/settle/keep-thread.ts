// Keeps a turn of a thread under the id of its answer, as long as a stored response would be: what was new in it, and
// the answer as its client got it.
import type { ThreadTurn } from '../../canonical/index.ts';
import type { AnswerContext, ThreadCodec } from '../../protocols/index.ts';
import { storedTurn } from '../admit/index.ts';
import type { Arrival } from '../arrival.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { expiryOf } from '../settings.ts';
import { answerBody, type GivenAnswer } from './keep-turn.ts';

/** Resolves when the turn would survive the death of the process. Rejects when it could not be kept. */
export async function keepThread(
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
