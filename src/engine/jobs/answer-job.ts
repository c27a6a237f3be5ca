// Asynchronous whole answers in every protocol, requested with `Prefer: respond-async` (RFC 7240). The answer is stored
// as the HTTP response that the client would have received.
import { compress, decompress } from '../../base/lib/gzip.ts';
import { jsonBytes } from '../../base/json/index.ts';
import type { JobView } from '../../accounts/ports/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { RequestRoute } from '../../protocols/index.ts';
import type { ApiCall } from '../call.ts';
import {
  earlierSteps,
  jobCall,
  refusalOf,
  settleEarlier,
  type Tried,
  type WorkDependencies,
} from './job-call.ts';
import { CANCELLED, type JobOutcome, type JobRun } from './job-runner.ts';
import { type CallPayload, protocolOf, recordIdOf, RESPONSE_KIND } from './response-job.ts';
import { WholeClient, type WholeResult } from './whole-client.ts';

/** Kind of these jobs in the queue. */
export const ANSWER_KIND = 'answer';

/** Record id of a job's last attempt. Null: the job is of another kind, or has not begun. */
export function recordOfJob({ id, kind, attempt }: Pick<JobView, 'id' | 'kind' | 'attempt'>): string | null {
  if (attempt === 0 || (kind !== ANSWER_KIND && kind !== RESPONSE_KIND)) return null;
  return recordIdOf(id.replace(/^resp_/, ''), attempt);
}

export interface AnswerPayload extends CallPayload {
  readonly route: RequestRoute | null;
}

export async function decodeResult(bytes: Uint8Array): Promise<WholeResult> {
  return JSON.parse((await decompress(bytes)).toString()) as WholeResult;
}

/** Runs the request of a job. */
export async function makeAnswer(run: JobRun, deps: WorkDependencies): Promise<JobOutcome> {
  const { job, cancellation, store } = run;
  const payload = JSON.parse(job.payload) as AnswerPayload;
  const protocol = protocolOf(payload);
  const keep = async (result: WholeResult): Promise<void> => {
    const bytes = await compress(Buffer.from(JSON.stringify(result)));
    await run.stored(() => store.keepStream(job.id, job.fence, bytes));
  };
  const failed = async (error: GatewayError, result?: WholeResult): Promise<JobOutcome> => {
    const { status, body } = protocol.server.encodeError(error, payload.id);
    const headers = { 'content-type': 'application/json' };
    await keep(result ?? { status: error.httpStatus ?? status, headers, body: JSON.stringify(body) });
    return { end: { state: 'failed', error: { code: error.code ?? error.kind, message: error.message } } };
  };
  const steps = await earlierSteps(run);
  // An earlier runner stored the answer, but died before it could end the job.
  const before = job.attempt > 1 ? await run.stored(() => store.stream(job.projectId, job.id)) : null;
  if (before && (await decodeResult(before)).status === 200) {
    await settleEarlier(run, payload.id, steps, deps);
    return { end: { state: 'completed' } };
  }
  const refusal = await refusalOf(run, payload.id, steps, deps);
  if (refusal) return failed(refusal);
  if (cancellation.reason === CANCELLED) return { end: { state: 'cancelled' } };
  const client = new WholeClient(cancellation);
  const tried: Tried = {};
  const account = deps.account(job.keyId);
  try {
    await deps.serve(callOf(run, payload, deps, { client, account }, tried));
  } catch (error) {
    return failed(GatewayError.from(error));
  } finally {
    account.release();
  }
  const { result } = client;
  if (result?.status === 200) {
    await keep(result);
    return { end: { state: 'completed' } };
  }
  if (cancellation.reason === CANCELLED) return { end: { state: 'cancelled' } };
  if (cancellation.reason) return null;
  if (!deps.takes()) return { wait: { reason: TEXTS.stopped, forMs: 0, hasBegun: true } };
  const { failure = new GatewayError('internal', TEXTS.notMade), wait, wasAsked = true } = tried;
  if (wait !== undefined) return { wait: { reason: failure.message, forMs: wait, hasBegun: wasAsked } };
  return failed(failure, result);
}

function callOf(
  run: JobRun,
  payload: AnswerPayload,
  deps: WorkDependencies,
  { client, account }: Pick<ApiCall, 'account'> & { readonly client: WholeClient },
  tried: Tried,
): ApiCall {
  const headers = new Map(payload.headers.map(([name, value]) => [name, value]));
  const { attempt, keyId } = run.job;
  return {
    protocol: protocolOf(payload),
    api: payload.api,
    ...(payload.route && { route: payload.route }),
    principal: deps.keyById(keyId),
    request: { method: 'POST', url: payload.url },
    body: jsonBytes(Buffer.from(payload.body)),
    json: JSON.parse(payload.body) as unknown,
    header: (name) => headers.get(name) ?? null,
    headers,
    client,
    account,
    job: jobCall(run, payload, deps, client, tried),
    ...(attempt > 1 && { replayOf: payload.id }),
  };
}
