// Runs one line like any other request, with retries when no capacity is available or all upstreams fail. Each try has
// its own record.
import { newGenerationId } from '../../base/runtime/ids.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { LineSpend } from '../../accounts/ports/index.ts';
import type { GenerationRecord } from '../../accounts/ledger/index.ts';
import type { Principal } from '../../accounts/auth/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { LineEnd } from '../../protocols/index.ts';
import type { ApiCall, DeferredRequest, JobCall, ReadyAnswer } from '../call.ts';
import type { Cancellation } from '../cancellation.ts';
import { LOST, TryMark, waitFor, WholeClient } from '../jobs/index.ts';
import type { BatchRun } from './batch-run.ts';
import { encodeEnd, failureOf, kindOf, refusedEnd } from './line-result.ts';
import { lineRequest, type LineRequest, parseLine } from './line-request.ts';
import type { FileLine } from './read-lines.ts';
import { type AnsweredLine, DEFERRED, type VendorBatches } from './vendor/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum tries of a line whose upstreams fail, and the wait before each further one, in milliseconds. */
const MOST_TRIES = 3;
const RETRY_MS = 2_000;

/** Reason for an answer with an error status but no failure. */
const NO_REASON = new GatewayError('upstream_unavailable', 'The response has an error status.');

/** Stored notes of a line that was sent to an upstream. */
export interface AskedDetail {
  /** Number of processes that died while it ran. */
  readonly deaths: number;
  readonly tried: { readonly recordId: string; readonly projectId: string; readonly detail: string } | null;
  /** A tool that may have had side effects. Null: none has begun. */
  readonly tool: string | null;
}

/** Outcome of a try. */
export interface Try {
  failure?: GatewayError;
  /** Milliseconds until the next try. */
  wait?: number | undefined;
  spend: LineSpend | null;
}

/**
 * Runs a line and writes its result. If it does not end, a later run tries it again.
 * @param deaths number of processes that died while it ran
 */
export async function runLine(
  of: BatchRun,
  { number, bytes }: FileLine,
  deaths: number,
  vendor: VendorBatches,
): Promise<void> {
  let request: LineRequest;
  try {
    request = requestOf(of, bytes);
  } catch (error) {
    // The configuration changed after the check.
    const refusal = GatewayError.from(error);
    return write(of, { number, end: refusedEnd(refusal), spend: null, request: null, refusal });
  }
  const since = of.deps.clock.now();
  let maySubmit = vendor.takes(number);
  for (let tries = 1; await of.resumed(); tries += 1) {
    const taken: Deferred[] = [];
    const defer: LineTry['defer'] = (endpoint, asked) => {
      taken.push({ endpoint, request: asked() });
      throw DEFERRED;
    };
    const line = { number, request, deaths, tries, since, ...(maySubmit && { defer }) };
    const made = await of.lines.within((own) => tryLine(of, line, own));
    if (of.lines.reason) return;
    const [first, ...more] = taken;
    if (first && more.length === 0) return vendor.add(number, first.endpoint, first.request);
    // One answer takes several requests, which a vendor's batch cannot combine.
    if (first) {
      maySubmit = false;
      continue;
    }
    const { end, tried } = made;
    if (tried.wait === undefined) {
      if (end) await write(of, { number, end, spend: tried.spend, request, refusal: tried.failure });
      return;
    }
    if (!(await of.pause(tried.failure?.message ?? '', tried.wait))) return;
  }
}

interface Deferred {
  readonly endpoint: Endpoint;
  readonly request: DeferredRequest;
}

/** @throws GatewayError, or TypeError for a line that was already refused */
export function requestOf(of: BatchRun, bytes: FileLine['bytes']): LineRequest {
  if (!bytes) throw new TypeError('a line that was refused before');
  return lineRequest(bytes, parseLine(bytes), of.codec, of.facts);
}

type TryParts = Pick<ApiCall, 'account'> &
  Pick<JobCall, 'id' | 'createdAt'> & { readonly client: WholeClient; readonly tried: Try };

export interface LineTry {
  readonly number: number;
  readonly request: LineRequest;
  readonly deaths: number;
  readonly tries: number;
  /** Start on the monotonic clock, in milliseconds. */
  readonly since: UnixMs;
  /** Takes the request for its vendor's batch API. */
  readonly defer?: NonNullable<JobCall['defer']>;
  /** An answer that already exists. */
  readonly answered?: ReadyAnswer & Pick<AnsweredLine, 'recordId' | 'createdAt'>;
}

/** Tries once. @returns the line's result; null: it has none yet, and `tried` says why */
export async function tryLine(
  of: BatchRun,
  line: LineTry,
  own: Cancellation,
): Promise<{ readonly end: LineEnd | null; readonly tried: Try }> {
  const { deps, run } = of;
  const { request } = line;
  const tried: Try = { spend: null };
  const account = deps.account(run.job.keyId);
  const client = new WholeClient(own);
  const createdAt = line.answered?.createdAt ?? deps.clock.wall();
  const id = line.answered?.recordId ?? newGenerationId(createdAt);
  try {
    account.add(request.body.bytes.length);
    await deps.serve(callOf(of, line, { id, createdAt, client, account, tried }), request.task);
  } catch (error) {
    tried.failure = GatewayError.from(error);
    if (line.answered) return { end: null, tried };
    tried.wait = waitFor(tried.failure, 0);
    // The key is no longer valid, so no line of the batch can run.
    if (tried.wait === undefined) of.endWith(refusedEnd(tried.failure));
    return { end: null, tried };
  } finally {
    account.release();
  }
  const { result } = client;
  if (!result) return { end: null, tried };
  // Line breaks in JSON occur only between tokens.
  const body = result.body.replaceAll(/[\r\n]+/g, ' ');
  return { end: { type: 'answered', status: result.status, requestId: id, body }, tried };
}

export interface WrittenLine {
  readonly number: number;
  readonly end: LineEnd;
  readonly spend: LineSpend | null;
  /** Null: it cannot be decoded. */
  readonly request: LineRequest | null;
  /** Reason of the failure. Undefined: it did not fail. */
  readonly refusal: GatewayError | undefined;
}

/** Resolves once stored durably. */
export async function write(
  of: BatchRun,
  { number, end, spend, request, refusal }: WrittenLine,
): Promise<void> {
  const kind = kindOf(end);
  const { requestId, status } = end.type === 'answered' ? end : { requestId: null, status: null };
  const why = refusal ?? NO_REASON;
  const failure = kind === 'failed' ? failureOf(why, request?.id ?? null, requestId, status) : null;
  const result = await encodeEnd(end, request?.named ?? null);
  await of.writer.end({ number, kind, result, spend, failure });
  of.progress();
}

function callOf(of: BatchRun, line: LineTry, { id, createdAt, client, account, tried }: TryParts): ApiCall {
  const { deps, run, batch } = of;
  const { protocol, operation, url, body, json } = line.request;
  const headers = new Map(of.headers);
  const note = (detail: Omit<AskedDetail, 'deaths'>): Promise<void> =>
    of.writer.ask({ number: line.number, detail: JSON.stringify({ deaths: line.deaths, ...detail }) });
  let asked: AskedDetail['tried'] = null;
  const mark = new TryMark(deps.storage.marks, run.job);
  const job: JobCall = {
    id,
    recordId: id,
    createdAt,
    expiresAt: batch.expiresAt,
    isKept: false,
    providerShare: deps.settings().providerShare,
    totalMs: deps.settings().totalMs,
    failed(failure, wasAsked) {
      tried.failure = failure;
      if (line.answered) return false;
      if (failure.code === DEFERRED.code) return true;
      const wait = waitOf(of, failure, line);
      if (wait !== undefined) tried.wait = wait;
      // No upstream request was made, so nothing is recorded.
      if (wait !== undefined && !wasAsked) mark.close();
      return wait !== undefined;
    },
    sent: () => mark.sent(),
    // The answer is stored in the results.
    notStored: () => {},
    ...(line.defer && { defer: line.defer }),
    ...(line.answered && { answered: line.answered }),
    async asked(record, price) {
      if (line.answered) return;
      const detail = JSON.stringify(mark.asked(record, price));
      asked = { recordId: id, projectId: batch.projectId, detail };
      await note({ tried: asked, tool: null });
    },
    recorded(record) {
      mark.close();
      tried.spend = spendOf(record);
    },
    async toolBegins(tool) {
      if (run.cancellation.reason === LOST) throw LOST;
      await note({ tried: asked, tool });
    },
  };
  return {
    protocol,
    api: operation.api,
    ...(operation.route && { route: operation.route }),
    principal: line.answered ? payer(of) : deps.keyById(run.job.keyId),
    request: { method: 'POST', url },
    body,
    json,
    header: (name) => headers.get(name) ?? null,
    headers,
    client,
    account,
    job,
  };
}

/** Principal that pays for an existing answer: the batch's key, even if it is no longer valid. */
function payer({ deps, run, batch }: BatchRun): Principal {
  const { keyId } = run.job;
  try {
    return deps.keyById(keyId);
  } catch {
    const { projectId } = batch;
    return {
      keyId,
      projectId,
      roles: ['models'],
      name: keyId,
      expiresAt: null,
      mayUse: () => true,
      logContent: false,
      strict: null,
      limits: [],
      routing: null,
      onDisconnect: null,
    };
  }
}

/** Milliseconds until the line is tried again. Undefined: it is not. */
function waitOf(of: BatchRun, failure: GatewayError, { tries, since }: LineTry): number | undefined {
  const { clock, settings } = of.deps;
  // Other lines may still succeed.
  if (failure.isHopeless) return undefined;
  if (failure.code === 'budget_exceeded' && settings().onBudget === 'end') {
    of.endWith(refusedEnd(failure));
    return undefined;
  }
  const wait = waitFor(failure, clock.now() - since);
  if (wait !== undefined) return wait;
  const isRetryable = failure.kind === 'upstream_unavailable' || failure.kind === 'timeout';
  return isRetryable && failure.fault !== 'client' && tries < MOST_TRIES ? RETRY_MS * tries : undefined;
}

function spendOf({ usage, cost }: GenerationRecord): LineSpend {
  const { input, output } = usage ?? {};
  const cached = input?.cacheRead ?? 0;
  const read = input
    ? input.uncached + input.cacheRead + input.cacheWrite5m + input.cacheWrite1h + input.audio + input.image
    : 0;
  return {
    inputTokens: read,
    cachedTokens: cached,
    outputTokens: output ? output.text + output.reasoning + output.audio : 0,
    reasoningTokens: output?.reasoning ?? 0,
    usd: cost?.usd ?? 0,
    unpriced: cost?.usd === null ? 1 : 0,
  };
}
