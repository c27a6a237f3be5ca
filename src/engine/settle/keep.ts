// Keeps of a good answer what is needed later: the turn for its client, thoughts for the vault, words for the log.
import type { CollectedEvents, Item, JsonObject, JsonValue } from '../../canonical/index.ts';
import type { AnswerContext } from '../../protocols/index.ts';
import { pickForVault } from '../../state/vault.ts';
import type { Admitted } from '../admit/index.ts';
import type { ClientAnswer } from '../answer/index.ts';
import type { Attempt } from '../attempt/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { KeptAnswer } from '../kept-answer.ts';
import type { Trail } from '../trail.ts';
import { hasFailed } from './has-failed.ts';
import { keepTurn } from './keep-turn.ts';

export interface Keeping {
  readonly admitted: Admitted;
  readonly answer: ClientAnswer;
  /** Who answered. */
  readonly by: Attempt;
  readonly trail: Trail;
  readonly context: AnswerContext;
  /** What the model said last, where an answer has several turns. */
  readonly lastTurn: readonly Item[] | undefined;
}

export interface Kept {
  /** The answer in the client's own protocol, when content is logged; else null. */
  readonly content: JsonValue;
  /** Resolves once all is kept, to the answer as it was kept; undefined for one that was not. Never rejects. */
  readonly answer: Promise<KeptAnswer | undefined> | undefined;
}

/** An answer that nobody needs afterwards. */
export const NOTHING_KEPT: Kept = { content: null, answer: undefined };

/** Keeps an answer. Failures are logged only: an answer is worth more than what is kept of it. */
export function keep(keeping: Keeping, deps: GatewayDependencies): Kept {
  const { admitted, answer, by, trail, context, lastTurn } = keeping;
  const { arrival, seal, turn, keepsTurn } = admitted;
  const { principal, protocol, tape } = arrival.call;
  const events = by.tap?.result() ?? answer.collected();
  const relayed = keepsTurn ? by.meter.relayed?.answer?.() : undefined;
  const given = relayed !== undefined ? { relayed } : events && { events: seal?.collected(events) ?? events };
  // What is kept says what the client is told.
  context.completedSeconds ??= Math.floor(deps.clock.now() / 1000);
  if (events?.usage) context.costUsd ??= trail.costUsd();
  const failed = (error: unknown): undefined => {
    deps.log.error('an answer could not be kept', { id: arrival.id, error });
  };
  // What an earlier turn thought led to a call that no client knows.
  const thought = lastTurn ?? events?.items;
  const remembered =
    thought && pickForVault(thought)
      ? deps.vault
          .remember(
            principal.projectId,
            thought,
            protocol.server.omitsCallIds ? context.request.items : undefined,
          )
          .catch(failed)
      : undefined;
  const stored =
    turn && given && keepsTurn ? keepTurn(turn, given, context, arrival, deps).catch(failed) : undefined;
  return {
    content: events && tape?.keeps(hasFailed(trail)) ? logged(events, by, context, admitted) : null,
    answer: both(stored, remembered),
  };
}

async function both(
  stored: Promise<KeptAnswer | undefined> | undefined,
  remembered: Promise<unknown> | undefined,
): Promise<KeptAnswer | undefined> {
  await remembered;
  return stored;
}

/** The answer for the record, in the client's own protocol. */
function logged(
  events: CollectedEvents,
  by: Attempt,
  { id, createdSeconds }: AnswerContext,
  { arrival, request }: Admitted,
): JsonObject {
  return arrival.call.protocol.server.encodeResponse(events, {
    id,
    createdSeconds,
    model: by.endpoint.modelId,
    request,
    reasoningContentMirror: false,
  });
}
