// Makes a background answer: runs the job's request like any other and reports the job's end. An answer that already
// exists is never made again.
import type { Principal } from '../../accounts/auth/index.ts';
import type { HeldJob, JobEnd, JobStep } from '../../accounts/ports/index.ts';
import { toByteString } from '../../base/lib/bytes.ts';
import { compress } from '../../base/lib/gzip.ts';
import { jsonBytes } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { BackgroundCodec } from '../../protocols/index.ts';
import type { ApiCall, ByteAccount, JobCall } from '../call.ts';
import type { KeptStream } from '../streams/index.ts';
import {
  earlierSteps,
  jobCall,
  refusalOf,
  settleEarlier,
  type Tried,
  type WorkDependencies,
} from './job-call.ts';
import { CANCELLED, type JobOutcome, type JobRun } from './job-runner.ts';
import { openingStream } from './job-stream.ts';
import { decodePayload, protocolOf, type ResponsePayload, currentResponse } from './response-job.ts';
import { RunClient } from './run-client.ts';
import { storeAgain, findUnstored } from './unstored-answer.ts';

export async function makeResponse(run: JobRun, deps: WorkDependencies): Promise<JobOutcome> {
  const { job } = run;
  const payload = decodePayload(job.payload);
  const codec = protocolOf(payload).server.background;
  if (!codec) throw new TypeError(TEXTS.noBackground(payload.protocol));
  const { responses } = deps.storage;
  const steps = await earlierSteps(run);
  // An earlier runner stored the answer, but died before it could end the job.
  if (await run.stored(() => responses.find(job.projectId, job.id, deps.clock.wall()))) {
    await settleEarlier(run, payload.id, steps, deps);
    return completed;
  }
  // An earlier try made the answer, but could not store it.
  const unstored = findUnstored(run, steps);
  if (unstored) return storeAgain(run, unstored, deps);
  const stream = openingStream(job, payload, codec, deps);
  try {
    return await makeStream({ run, payload, codec, steps, stream }, deps);
  } catch (error) {
    // Its readers would wait for ever.
    if (!stream.hasEnded) stream.end();
    throw error;
  }
}

interface Making {
  readonly run: JobRun;
  readonly payload: ResponsePayload;
  readonly codec: BackgroundCodec;
  /** Steps of earlier tries. */
  readonly steps: readonly JobStep[];
  readonly stream: KeptStream;
}

async function makeStream(
  { run, payload, codec, steps, stream }: Making,
  deps: WorkDependencies,
): Promise<JobOutcome> {
  const { job, cancellation } = run;
  const ended = async (end: JobEnd): Promise<JobOutcome> => {
    const current = currentResponse(
      { ...job, ...end, error: end.state === 'failed' ? end.error : null },
      payload,
    );
    return keep(run, stream, toByteString(codec.ending(current, stream.next)), end);
  };
  if (cancellation.reason === CANCELLED) return ended({ state: 'cancelled' });
  const refusal = await refusalOf(run, payload.id, steps, deps);
  if (refusal) return ended(failedBy(refusal, codec));
  let principal: Principal;
  try {
    principal = deps.keyById(job.keyId);
  } catch (error) {
    return ended(failedBy(GatewayError.from(error), codec));
  }
  const client = new RunClient(stream, codec, cancellation);
  const account = deps.account(job.keyId);
  const tried: Tried = {};
  try {
    await deps.serve(
      callOf(job, payload, { principal, account, client, codec }, jobCall(run, payload, deps, client, tried)),
    );
  } finally {
    account.release();
  }
  if (client.isComplete) {
    const kept = await keep(run, stream, client.last, { state: 'completed' });
    return tried.notStored ? storeAgain(run, tried.notStored, deps) : kept;
  }
  if (cancellation.reason === CANCELLED) return ended({ state: 'cancelled' });
  if (cancellation.reason) {
    stream.end();
    return null;
  }
  if (!deps.takes()) return { wait: { reason: TEXTS.stopped, forMs: 0, hasBegun: true } };
  const { failure = new GatewayError('internal', TEXTS.notMade), wait, wasAsked = true } = tried;
  if (wait !== undefined) return { wait: { reason: failure.message, forMs: wait, hasBegun: wasAsked } };
  const end = failedBy(failure, codec);
  return client.hasFailed ? keep(run, stream, client.last, end) : ended(end);
}

const completed: JobOutcome = { end: { state: 'completed' } };

function failedBy(error: GatewayError, codec: BackgroundCodec): JobEnd & { readonly state: 'failed' } {
  return { state: 'failed', error: codec.failure(error) };
}

/**
 * Stores the finished stream with the job, so that it can be read from any process. Its end is sent only afterwards,
 * because a process that dies rebuilds the stream from the answer, with other events.
 * @param last the final event, a byte string; null: already written
 */
async function keep(
  { job, store, stored }: JobRun,
  stream: KeptStream,
  last: string | null,
  end: JobEnd,
): Promise<JobOutcome> {
  if (stream.isKept) {
    const bytes = await compress(Buffer.from(stream.text() + (last ?? ''), 'latin1'));
    await stored(() => store.keepStream(job.id, job.fence, bytes));
  }
  if (last !== null) stream.write(last, 'bytes');
  stream.end();
  return { end };
}

interface RunParts {
  readonly principal: Principal;
  readonly account: ByteAccount;
  readonly client: RunClient;
  readonly codec: BackgroundCodec;
}

function callOf(
  job: HeldJob,
  payload: ResponsePayload,
  { principal, account, client, codec }: RunParts,
  jobOf: JobCall,
): ApiCall {
  const body = codec.runBody(payload.body);
  const headers = new Map(payload.headers.map(([name, value]) => [name, value]));
  return {
    protocol: protocolOf(payload),
    api: payload.api,
    principal,
    request: { method: 'POST', url: payload.url },
    body: jsonBytes(Buffer.from(body)),
    json: JSON.parse(body) as unknown,
    header: (name) => headers.get(name) ?? null,
    headers,
    client,
    account,
    job: jobOf,
    ...(job.attempt > 1 && { replayOf: payload.id }),
  };
}
