// Answers one request of a codec task: decodes, plans, tries, settles and responds. Like a text request, but nothing is
// stored or hydrated.
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, Report, TEXTS } from '../../canonical/index.ts';
import { type DecodedTask, type TaskAnswer, TextBody } from '../../protocols/index.ts';
import { allow, planFor, type Planned } from '../admit/index.ts';
import { answerHeaders, refuse } from '../answer/index.ts';
import type { Arrival } from '../call.ts';
import type { Cancellation, ClientConnection } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { tryCandidates } from '../failover/index.ts';
import { recordRequest } from '../record/index.ts';
import { AttemptLog } from '../attempt-log.ts';
import { StreamedTask } from './streamed-task.ts';
import { type TaskResult, TaskTrial, type TrialInput } from './try-task.ts';
import { decodeTask, needsOf, type TaskParts } from './task-parts.ts';

/**
 * Answers one request. Never rejects.
 * @returns true when the client has a complete, successful answer; false when it received an error or disconnected
 */
export async function answerTask<Asked, Made>(
  task: TaskParts<Asked, Made>,
  arrival: Arrival,
  clientConnection: ClientConnection,
  deps: GatewayDependencies,
): Promise<boolean> {
  const { id, call } = arrival;
  const attemptLog = new AttemptLog();
  let decoded: DecodedTask<Asked, Made> | undefined;
  let plan: Planned | undefined;
  let stream: StreamedTask<Made> | undefined;
  let result: TaskResult<Made> | undefined;
  let failure: GatewayError | undefined;
  let answer: TaskAnswer<Made> | undefined;
  let body: TextBody | undefined;
  clientConnection.begin(deps.ticker, { tick: (nowMs) => stream?.tick(nowMs) });
  try {
    decoded = decodeTask(task, call, call.files ?? []);
    const { request, asked, encode } = decoded;
    const { chars, tokens } = needsOf(task, asked);
    plan = planFor(arrival, request, chars, deps);
    await allow(plan, () => tokens, deps);
    const { report } = request;
    const streamed = { arrival, attemptLog, clientConnection, report, nowMs: deps.clock.now() };
    stream = decoded.stream && new StreamedTask(streamed, decoded.stream);
    result = await tried(
      { task, planned: plan, attemptLog, deps, asked, tokens, stream },
      clientConnection.cancellation,
    );
    answer = {
      made: result.made,
      usage: result.usage,
      model: result.by.at(-1)?.endpoint.modelId ?? request.model,
      costUsd: request.gateway.includeUsage === true ? attemptLog.costUsd() : undefined,
    };
    body = stream ? undefined : textOf(encode(answer));
  } catch (thrown) {
    failure = GatewayError.from(thrown);
    if (failure.kind === 'internal') deps.log.error('request failed', { id, error: thrown });
  } finally {
    clientConnection.end();
  }
  const wasAsked = attemptLog.attempts.length > 0;
  const turns = result?.by ?? (stream?.by ? [stream.by] : []);
  const report = result?.report ?? decoded?.request.report ?? new Report();
  const { left } = clientConnection;
  const outcome = { arrival, attemptLog, request: decoded?.request, route: plan?.route ?? null };
  const opened = stream?.opened === true;
  // A job without available capacity counts as not begun.
  if (failure && call.job?.failed(failure, wasAsked) && !wasAsked)
    arrival.quota?.settle({ requests: 0, tokens: 0, nanoUsd: 0 });
  // All parts count as one request.
  else
    recordRequest(
      { ...outcome, turns, turnCount: 1, report, failure, cancelled: left, content: null },
      opened,
      deps,
    );
  await deps.ledger.confirmed();
  if (left) return false;
  if (failure || !answer) {
    const error = failure ?? new GatewayError('internal', TEXTS.internal);
    if (stream && opened) stream.fail(error);
    else refuse({ arrival, attemptLog, report }, error);
    return false;
  }
  stream?.complete(answer);
  if (body) {
    const headers = answerHeaders(arrival, attemptLog.attempts.length, turns.at(-1), report);
    call.client.respond(200, { ...headers, 'content-type': body.type }, body.text);
  }
  return true;
}

function textOf(body: JsonObject | TextBody): TextBody {
  return body instanceof TextBody ? body : new TextBody('application/json', JSON.stringify(body));
}

/** The result of the candidate that answered. Throws GatewayError. */
async function tried<Asked, Made>(
  input: TrialInput<Asked, Made>,
  cancellation: Cancellation,
): Promise<TaskResult<Made>> {
  const trial = new TaskTrial(input);
  const { planned, deps } = input;
  const failure = cancellation.reason ?? (await tryCandidates(trial, { planned, deps, cancellation }));
  if (failure) throw failure;
  if (!trial.result) throw new TypeError(TEXTS.withoutAttempt);
  return trial.result;
}
