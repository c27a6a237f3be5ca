// Runs one line as any other request, until it has ended: again where there was no room or nobody could answer. Each try has a record of
// its own.
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

/** Tries of a line that nobody could answer, and what is waited before each further one, in milliseconds. */
const MOST_TRIES = 3;
const RETRY_MS = 2_000;

/** Reason of an answer with an error status that no failure came with. */
const NO_REASON = new GatewayError('upstream_unavailable', 'The answer has an error status.');

/** Notes of a line whose upstream was asked. */
export interface AskedDetail {
  /** How often a process died while it ran. */
  readonly deaths: number;
  readonly tried: { readonly recordId: string; readonly projectId: string; readonly detail: string } | null;
  /** A tool that may have had effects; null: none has begun. */
  readonly tool: string | null;
}

/** How a try went. */
export interface Try {
  failure?: GatewayError;
  /** When it is tried again, in milliseconds. */
  wait?: number | undefined;
  spend: LineSpend | null;
}

/**
 * Runs a line, and writes how it ended. Where it has not ended, a later run has it again.
 * @param deaths how often a process died while it ran
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
    // The configuration has changed since it was checked.
    const refusal = GatewayError.from(error);
    return write(of, { number, end: refusedEnd(refusal), spend: null, name: null, refusal });
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
    // Several requests make one answer: a vendor's batch cannot put it together.
    if (first) {
      maySubmit = false;
      continue;
    }
    const { end, tried } = made;
    if (tried.wait === undefined) {
      if (end) await write(of, { number, end, spend: tried.spend, name: request.id, refusal: tried.failure });
      return;
    }
    if (!(await of.pause(tried.failure?.message ?? '', tried.wait))) return;
  }
}

interface Deferred {
  readonly endpoint: Endpoint;
  readonly request: DeferredRequest;
}

/** @throws GatewayError, or TypeError for what was refused before */
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
  /** When it began, in milliseconds that only go forward. */
  readonly since: UnixMs;
  /** Takes its request for its vendor's batch API. */
  readonly defer?: NonNullable<JobCall['defer']>;
  /** An answer that is there already. */
  readonly answered?: ReadyAnswer & Pick<AnsweredLine, 'recordId' | 'createdAt'>;
}

/** Asks once. @returns how the line ended; null: it did not, and `tried` says why */
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
    // The key is not good any more: no line of the batch can be run.
    if (tried.wait === undefined) of.endWith(refusedEnd(tried.failure));
    return { end: null, tried };
  } finally {
    account.release();
  }
  const { result } = client;
  if (!result) return { end: null, tried };
  // Line ends of JSON stand between its values alone.
  const body = result.body.replaceAll(/[\r\n]+/g, ' ');
  return { end: { type: 'answered', status: result.status, requestId: id, body }, tried };
}

export interface WrittenLine {
  readonly number: number;
  readonly end: LineEnd;
  readonly spend: LineSpend | null;
  /** Its `custom_id`; null: it has none, or could not be read. */
  readonly name: string | null;
  /** Why it failed; undefined: it did not. */
  readonly refusal: GatewayError | undefined;
}

/** Durable when it resolves. */
export async function write(of: BatchRun, { number, end, spend, name, refusal }: WrittenLine): Promise<void> {
  const kind = kindOf(end);
  const { requestId, status } = end.type === 'answered' ? end : { requestId: null, status: null };
  const why = refusal ?? NO_REASON;
  const failure = kind === 'failed' ? failureOf(why, name, requestId, status) : null;
  await of.writer.end({ number, kind, result: encodeEnd(end), spend, failure });
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
      // Nothing is recorded of it.
      if (wait !== undefined && !wasAsked) mark.close();
      return wait !== undefined;
    },
    sent: () => mark.sent(),
    // Its answer stands in the results.
    unkept: () => {},
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

/** Principal that pays for an answer which is there: its key, though that may not be good any more. */
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

/** When a line is tried again, in milliseconds; undefined: it is not. */
function waitOf(of: BatchRun, failure: GatewayError, { tries, since }: LineTry): number | undefined {
  const { clock, settings } = of.deps;
  // Other lines may pass.
  if (failure.isHopeless) return undefined;
  if (failure.code === 'budget_exceeded' && settings().onBudget === 'end') {
    of.endWith(refusedEnd(failure));
    return undefined;
  }
  const wait = waitFor(failure, clock.now() - since);
  if (wait !== undefined) return wait;
  const isWorthIt = failure.kind === 'upstream_unavailable' || failure.kind === 'timeout';
  return isWorthIt && failure.fault !== 'client' && tries < MOST_TRIES ? RETRY_MS * tries : undefined;
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
