// Runs a batch: reads its lines, runs those that have not ended, and writes its files. It can be interrupted at any
// point: the next process continues, and no finished line runs again.
import { GatewayError } from '../../canonical/index.ts';
import type { Batch, BatchOutcome, JobEnd } from '../../accounts/ports/index.ts';
import { type BatchProblem, findProtocol, type UnansweredEnd } from '../../protocols/index.ts';
import type { ProtocolName } from '../../canonical/index.ts';
import {
  storeRetryMs,
  hasDied,
  type InterruptedTry,
  isNewReason,
  type JobOutcome,
  type JobRun,
  LOST,
  settleTry,
} from '../jobs/index.ts';
import { inputLines, LostInput } from './batch-input.ts';
import { BatchRun, type Stop } from './batch-run.ts';
import type { BatchDependencies } from './batch-settings.ts';
import { checkLines } from './check-lines.ts';
import { collectLines } from './collect-lines.ts';
import { EndedLines } from './ended-lines.ts';
import { encodeEnd, failureOf, refusedEnd } from './line-result.ts';
import { type AskedDetail, runLine } from './run-line.ts';
import { RunningLines } from './running-lines.ts';
import { VendorBatches } from './vendor/index.ts';
import { writeResults } from './write-results.ts';

/** Kind of these jobs in the queue. */
export const BATCH_KIND = 'batch';

/** Maximum processes that may die while one line runs, so that a fatal request cannot end all of them. */
const MOST_DEATHS = 10;
/** Number of deaths from which a line runs alone, so that the lines which ran beside it can finish. */
const RUNS_ALONE_FROM = 2;

export async function runBatch(run: JobRun, deps: BatchDependencies): Promise<JobOutcome> {
  const { job } = run;
  const batch = await deps.storage.batches.get(job.id);
  if (!batch) return failed('The batch was deleted.');
  if (batch.outcome) return { end: endOf(batch.outcome, problemsOf(batch)) };
  const codec = findProtocol(batch.protocol as ProtocolName)?.server?.batches;
  if (!codec) return failed(`This version of Dragoman does not support batches of ${batch.protocol}.`);
  const of = new BatchRun(run, batch, codec, deps);
  try {
    return await runAll(of).catch((error: unknown) => endedWithoutInput(of, error));
  } catch (thrown) {
    if (of.isLost || thrown === LOST) return null;
    const { message } = GatewayError.from(thrown);
    deps.log.warn('a batch failed and is retried', { id: job.id, error: thrown });
    const isNew = isNewReason(job, message);
    const waitedMs = isNew || !job.waits ? 0 : deps.clock.wall() - job.waits.sinceMs;
    return { wait: { reason: message, forMs: storeRetryMs(waitedMs), hasBegun: false, isNew } };
  } finally {
    of.close();
  }
}

async function runAll(of: BatchRun): Promise<JobOutcome> {
  const { run, batch, deps } = of;
  const { batches } = deps.storage;
  const { id, fence } = run.job;
  let problems = problemsOf(batch);
  const deaths = await settleInterrupted(of);
  if (batch.beganAt === null && !of.isStopped) {
    if (!(await of.mayBegin())) return outcomeOf(of, problems);
    const principal = principalOf(of);
    const checked = principal && (await checkLines(of, principal));
    if (checked) {
      problems = checked.problems;
      if (checked.usable === 0) return ended(of, problems, 'failed', checked.isTooLong ? null : TOO_LATE);
      await batches.begin(id, fence, checked.total, problems.length === 0 ? null : JSON.stringify(problems));
    }
  }
  if (batch.finalizingAt !== null) return outcomeOf(of, problems);
  const vendor = await VendorBatches.open(of);
  if (batch.beganAt !== null) principalOf(of);
  await vendor.look((group) => collectLines(of, group));
  const endedLines = Object.values(batch.counts).reduce((sum, count) => sum + count, 0);
  if (!of.isStopped && !vendor.hasAll(batch.total, endedLines)) await runLines(of, deaths, vendor);
  const wait = of.isLost || of.stop?.type === 'wait' ? null : vendor.wait();
  return wait ? { wait } : outcomeOf(of, problems);
}

/** The key of the batch. Undefined: it is no longer valid, which ends the batch. */
function principalOf(of: BatchRun) {
  try {
    return of.deps.keyById(of.run.job.keyId);
  } catch (error) {
    of.endWith(refusedEnd(GatewayError.from(error)));
    return undefined;
  }
}

/** End of lines without a result after all were run. There are none. */
const TOO_LATE = { type: 'cancelled' } as const;

async function outcomeOf(of: BatchRun, problems: readonly BatchProblem[]): Promise<JobOutcome> {
  if (of.isLost) return null;
  const { stop } = of;
  if (stop?.type === 'wait') return { wait: stop.wait };
  return ended(of, problems, finalOutcome(stop), stop?.rest ?? TOO_LATE);
}

function finalOutcome(stop: Extract<Stop, { type: 'end' }> | undefined): BatchOutcome {
  return stop?.rest.type === 'expired' || stop?.rest.type === 'cancelled' ? stop.rest.type : 'completed';
}

/**
 * Ends a batch whose input file was deleted, or still cannot be read after its deadline. Results of lines that have ended
 * are delivered, because they are paid for.
 * @throws any other error
 */
async function endedWithoutInput(of: BatchRun, error: unknown): Promise<JobOutcome> {
  if (!(error instanceof LostInput) || of.isLost || (!error.isGone && of.leftMs > 0)) throw error;
  const { deps, run } = of;
  const batch = await deps.storage.batches.get(run.job.id);
  if (!batch) return failed('The batch was deleted.');
  deps.log.warn('the input file of a batch is lost', { id: batch.id, error });
  await (await VendorBatches.open(of)).cancelAll();
  const { code = error.kind, message } = error;
  const problem: BatchProblem = { code, message, param: 'input_file_id', line: null };
  const problems = [problem, ...problemsOf(batch)];
  const outcome = batch.cancelAt === null ? 'failed' : 'cancelled';
  return ended(of, problems, outcome, refusedEnd(error), batch);
}

/**
 * Writes the files and ends the batch.
 * @param rest end of lines without a result; null: no files are written
 * @param withoutInput current state of a batch whose input file is lost
 */
async function ended(
  of: BatchRun,
  problems: readonly BatchProblem[],
  outcome: BatchOutcome,
  rest: UnansweredEnd | null,
  withoutInput?: Batch,
): Promise<JobOutcome> {
  const { run, deps } = of;
  const { batches } = deps.storage;
  const { id, fence } = run.job;
  if (!(await batches.finalize(id, fence))) return null;
  const written = rest && (await writeResults(of, rest, withoutInput));
  const kind = rest === null || rest.type === 'refused' ? 'failed' : rest.type;
  const isHeld = await batches.end(id, fence, {
    outcome,
    outputFile: written?.outputFile ?? null,
    errorFile: written?.errorFile ?? null,
    problems: problems.length === 0 ? null : JSON.stringify(problems),
    rest: { kind, lines: written?.rest ?? 0 },
  });
  if (!isHeld) return null;
  return { end: endOf(outcome, problems) };
}

function endOf(outcome: BatchOutcome, problems: readonly BatchProblem[]): JobEnd {
  if (outcome === 'cancelled') return { state: 'cancelled' };
  if (outcome !== 'failed') return { state: 'completed' };
  const message = problems.find(({ line }) => line === null)?.message ?? 'All of its lines failed.';
  return { state: 'failed', error: { code: 'batch_failed', message } };
}

function problemsOf({ problems }: Batch): readonly BatchProblem[] {
  return JSON.parse(problems ?? '[]') as readonly BatchProblem[];
}

function failed(message: string): JobOutcome {
  return { end: { state: 'failed', error: { code: 'server_error', message } } };
}

/** Runs the lines that have not ended until all have, or the run is stopped. */
async function runLines(
  of: BatchRun,
  deaths: ReadonlyMap<number, number>,
  vendor: VendorBatches,
): Promise<void> {
  const { batch, deps } = of;
  const ended = EndedLines.numbers(deps.storage.batches, batch.id);
  const running = new RunningLines(deps.pace);
  await running.during(async () => {
    for await (const line of inputLines(of)) {
      if ((await ended.at(line.number)) !== null || vendor.holds(line.number)) continue;
      const deathCount = deaths.get(line.number) ?? 0;
      const runsAlone = deathCount >= RUNS_ALONE_FROM;
      if (runsAlone) await running.ended();
      if (running.hasFailed || !(await of.mayBegin())) break;
      await deps.pace.enter(batch.projectId);
      if (of.isStopped) {
        deps.pace.leave();
        break;
      }
      running.add(runLine(of, line, deathCount, vendor));
      if (runsAlone) await running.ended();
    }
  });
  if (!of.isStopped) await vendor.flush();
}

/**
 * Records the usage of lines whose process died, and ends those that must not run again.
 * @returns number of deaths, by line number
 */
async function settleInterrupted(of: BatchRun): Promise<ReadonlyMap<number, number>> {
  const { run, batch, deps, writer } = of;
  const deaths = new Map<number, number>();
  for (const { number, detail } of await deps.storage.batches.asked(batch.id)) {
    const { tried, tool, ...before } = JSON.parse(detail) as AskedDetail;
    const interrupted = tried && (JSON.parse(tried.detail) as InterruptedTry);
    if (interrupted && !(await deps.storage.ledger.find(tried.recordId, tried.projectId)))
      await settleTry(interrupted, run.job, deps.storage);
    const now = before.deaths + (interrupted && hasDied(interrupted, run.job) ? 1 : 0);
    deaths.set(number, now);
    const refusal = interruption(tool, now);
    if (refusal)
      await writer.end({
        number,
        kind: 'failed',
        result: await encodeEnd(refusedEnd(refusal), null),
        spend: null,
        failure: failureOf(refusal, null, tried?.recordId ?? null, null),
      });
    else await writer.ask({ number, detail: JSON.stringify({ deaths: now, tried: null, tool: null }) });
  }
  await deps.storage.ledger.confirmed();
  return deaths;
}

function interruption(tool: string | null, deaths: number): GatewayError | undefined {
  if (tool !== null)
    return new GatewayError(
      'upstream_unavailable',
      `The gateway stopped while this line ran, after the tool '${tool}' had started. The line is not run again, because the tool may have had side effects.`,
      { code: 'interrupted' },
    );
  if (deaths < MOST_DEATHS) return undefined;
  return new GatewayError('internal', `The gateway stopped ${deaths} times while this line ran.`, {
    code: 'interrupted',
  });
}
