// Stores the parts of a successful answer that are needed later: the turn for its client, reasoning for the vault,
// content for the log.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import { type CollectedEvents, type Item, TEXTS } from '../../canonical/index.ts';
import type { AnswerContext } from '../../protocols/index.ts';
import { pickForVault } from '../state/vault.ts';
import type { Admitted } from '../admit/index.ts';
import type { ClientAnswer } from '../answer/index.ts';
import type { Attempt } from '../attempt/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { KeptAnswer } from '../kept-answer.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { hasFailed } from './record-request.ts';
import { storeThread, storeTurn } from './store-turn.ts';

export interface AnsweredRequest {
  readonly admitted: Admitted;
  readonly answer: ClientAnswer;
  /** The attempt that answered. */
  readonly by: Attempt;
  readonly attemptLog: AttemptLog;
  readonly context: AnswerContext;
  /** Last turn of the model, if there were several. */
  readonly lastTurn: readonly Item[] | undefined;
}

export interface StoredAnswer {
  /** The answer in the client's protocol, if content is logged. Null: not logged. */
  readonly content: JsonValue;
  /** Resolves to the stored answer once everything is stored. Undefined: it was not stored. Never rejects. */
  readonly answer: Promise<KeptAnswer | undefined> | undefined;
}

/** Result for an answer of which nothing is stored. */
export const NOT_STORED: StoredAnswer = { content: null, answer: undefined };

/** Stores an answer. Failures are only logged, because the answer itself is still delivered. */
export function storeAnswer(answered: AnsweredRequest, deps: GatewayDependencies): StoredAnswer {
  const { admitted, answer, by, attemptLog, context, lastTurn } = answered;
  const { arrival, seal, turn, keepsTurn } = admitted;
  const { recorder } = arrival.call;
  const events = by.tap?.result() ?? answer.collected();
  const relayed = keepsTurn ? by.meter.relayed?.answer?.() : undefined;
  const given = relayed !== undefined ? { relayed } : events && { events: seal?.collected(events) ?? events };
  // The stored answer must equal the one that the client receives.
  context.completedSeconds ??= Math.floor(deps.clock.wall() / 1000);
  if (events?.usage) context.costUsd ??= attemptLog.costUsd();
  const failed = (error: unknown): undefined => {
    deps.log.error(TEXTS.notKept, { id: arrival.id, error });
  };
  // Reasoning of an earlier turn belongs to a tool call that the client does not know.
  const thought = lastTurn ?? events?.items;
  const remembered = thought && remember(thought, answered, deps)?.catch(failed);
  const { thread } = context.request;
  const { threads } = arrival.call.protocol.server;
  const stored =
    given && keepsTurn
      ? turn
        ? storeTurn(turn, given, context, arrival, deps).catch(failed)
        : thread &&
          threads &&
          storeThread({ turn: thread, codec: threads }, given, context, arrival, deps).catch(failed)
      : undefined;
  return {
    content: events && recorder?.keeps(hasFailed(attemptLog)) ? logged(events, by, context, admitted) : null,
    answer: both(stored, remembered),
  };
}

/** Undefined: the vault does not need the turn. */
function remember(
  thought: readonly Item[],
  { admitted, by, context }: AnsweredRequest,
  { vault }: GatewayDependencies,
): Promise<void> | undefined {
  const { principal, protocol } = admitted.arrival.call;
  const { server } = protocol;
  if (pickForVault(thought))
    return vault.remember(
      principal.projectId,
      thought,
      server.omitsCallIds ? context.request.items : undefined,
    );
  return admitted.mayHideEnd(by.endpoint) ? vault.rememberEnd(principal.projectId, thought) : undefined;
}

async function both(
  stored: Promise<KeptAnswer | undefined> | undefined,
  remembered: Promise<unknown> | undefined,
): Promise<KeptAnswer | undefined> {
  await remembered;
  return stored;
}

/** The answer in the client's protocol, for the log. */
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
