// One request whose answer comes as a whole, on its way through the engine: decoded, planned, tried, settled, answered. Like a
// request for text, but nothing is streamed, stored or hydrated. Knows no task by name.
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, Report } from '../../canonical/index.ts';
import type { DecodedTask } from '../../protocols/index.ts';
import { allow, planFor, type Planned } from '../admit/index.ts';
import { answerHeaders, refuse } from '../answer/index.ts';
import type { Arrival } from '../arrival.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { tryCandidates } from '../failover/index.ts';
import { settle } from '../settle/index.ts';
import { AttemptLog } from '../attempt-log.ts';
import type { ClientConnection } from '../client-connection.ts';
import { type WholeAnswer, type WholeInput, WholeTrial } from './try-whole.ts';
import { decodeWhole, needsOf, type WholeParts } from './whole-parts.ts';

/**
 * Answers one request. Never rejects.
 * @returns true when the client has a complete, good answer; false when it was told of a failure, or has left
 */
export async function answerWhole<Asked, Made>(
  task: WholeParts<Asked, Made>,
  arrival: Arrival,
  clientConnection: ClientConnection,
  deps: GatewayDependencies,
): Promise<boolean> {
  const { id, call } = arrival;
  const attemptLog = new AttemptLog();
  let decoded: DecodedTask<Asked, Made> | undefined;
  let plan: Planned | undefined;
  let answer: WholeAnswer<Made> | undefined;
  let failure: GatewayError | undefined;
  let body: JsonObject | undefined;
  clientConnection.begin(deps.ticker);
  try {
    decoded = decodeWhole(task, call);
    const { request, asked, encode } = decoded;
    const { chars, tokens } = needsOf(task, asked);
    plan = planFor(arrival, request, chars, deps);
    await allow(plan, () => tokens, deps);
    answer = await tried(
      { task, planned: plan, attemptLog, deps, asked, tokens },
      clientConnection.cancellation,
    );
    body = encode({
      made: answer.made,
      usage: answer.usage,
      model: answer.by.at(-1)?.endpoint.modelId ?? request.model,
      costUsd: request.gateway.includeUsage === true ? attemptLog.costUsd() : undefined,
    });
  } catch (thrown) {
    failure = GatewayError.from(thrown);
    if (failure.kind === 'internal') deps.log.error('request failed', { id, error: thrown });
  } finally {
    clientConnection.end();
  }
  const wasAsked = attemptLog.attempts.length > 0;
  const turns = answer?.by ?? [];
  const report = answer?.report ?? decoded?.request.report ?? new Report();
  const { left } = clientConnection;
  const outcome = { arrival, attemptLog, request: decoded?.request, route: plan?.route ?? null };
  // A job that finds no room is as if it had not begun.
  if (failure && call.job?.failed(failure, wasAsked) && !wasAsked)
    arrival.quota?.settle({ requests: 0, tokens: 0, nanoUsd: 0 });
  // Several parts are one request all the same.
  else
    settle({ ...outcome, turns, turnCount: 1, report, failure, cancelled: left, content: null }, false, deps);
  await deps.ledger.confirmed();
  if (left) return false;
  if (failure || !body) {
    refuse({ arrival, attemptLog, report }, failure ?? new GatewayError('internal', 'internal error'));
    return false;
  }
  const headers = answerHeaders(arrival, attemptLog.attempts.length, turns.at(-1), report);
  headers['content-type'] = 'application/json';
  call.client.respond(200, headers, JSON.stringify(body));
  return true;
}

/** The answer of whoever gave one. Throws GatewayError. */
async function tried<Asked, Made>(
  input: WholeInput<Asked, Made>,
  cancellation: Cancellation,
): Promise<WholeAnswer<Made>> {
  const trial = new WholeTrial(input);
  const { planned, deps } = input;
  const failure = cancellation.reason ?? (await tryCandidates(trial, { planned, deps, cancellation }));
  if (failure) throw failure;
  if (!trial.answer) throw new TypeError('an answer that no attempt gave');
  return trial.answer;
}
