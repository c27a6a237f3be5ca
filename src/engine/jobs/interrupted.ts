// Records the cost of tries whose process died, because their upstreams charge it anyway. The record has the try's id,
// so it is written to the ledger only once.
import { NO_USAGE } from '../../canonical/index.ts';
import type {
  HeldJob,
  JobStep,
  RunningRecord,
  SentMark,
  SentMarkStore,
  SentState,
  Storage,
} from '../../accounts/ports/index.ts';
import { costOf } from '../../accounts/ledger/index.ts';
import type { Price } from '../../catalog/index.ts';
import type { JobRun } from './job-runner.ts';
import { recordIdOf } from './response-job.ts';

/** Prefix of steps that store which endpoint was called. */
export const ASKED_STEP = 'asked:';

type Settling = Pick<Storage, 'ledger' | 'marks' | 'interruptedTries'>;

/** @param steps of the job */
export async function settleInterrupted(
  { job, store }: Pick<JobRun, 'job' | 'store'>,
  id: string,
  steps: readonly JobStep[],
  settling: Settling,
): Promise<void> {
  const { attempt, projectId } = job;
  for (const { name, detail } of steps) {
    const of = name.startsWith(ASKED_STEP) ? Number(name.slice(ASKED_STEP.length)) : attempt;
    const tried = of < attempt ? (JSON.parse(detail) as InterruptedTry | null) : null;
    if (!tried || (await settling.ledger.find(recordIdOf(id, of), projectId))) continue;
    // A try that was handed over is not handed over again by the next runner.
    if ((await settleTry(tried, job, settling)) === 'handed over')
      await store.step(job.id, job.fence, { name, detail: JSON.stringify(null) });
  }
}

/** A request to an upstream, as known when it was sent. */
export interface InterruptedTry {
  readonly record: RunningRecord;
  readonly price: Price | null;
  /** Id of the mark that tells whether it was sent. Null: no mark. */
  readonly mark?: string | null;
  /** Number of expired leases of its job at that time. */
  readonly deaths: number;
}

/** True if a lease of the job has expired since then. */
export function hasDied({ deaths }: InterruptedTry, job: Pick<HeldJob, 'deaths'>): boolean {
  return deaths !== job.deaths;
}

/**
 * Records an interrupted request if it was sent. Hands it over if a process with another data directory may tell. A request of
 * a crashed process counts as sent if its mark is lost. A process that released its job has recorded its requests itself.
 */
export async function settleTry(
  tried: InterruptedTry,
  job: HeldJob,
  { ledger, marks, interruptedTries }: Settling,
): Promise<'settled' | 'handed over'> {
  const state = stateOf(tried, marks);
  if (interruptedTries && state === 'elsewhere' && hasDied(tried, job)) {
    await interruptedTries.add({ recordId: tried.record.generation.id, detail: JSON.stringify(tried) });
    return 'handed over';
  }
  if (state === 'sent' || (state !== 'unsent' && hasDied(tried, job))) charge(tried, ledger);
  return 'settled';
}

/** State of the request of a try. */
export function stateOf({ mark }: InterruptedTry, marks: SentMarkStore): SentState {
  return typeof mark === 'string' ? marks.stateOf(mark) : 'unknown';
}

/** Records the request. The prompt was read; the size of the output is unknown. */
export function charge({ record, price }: InterruptedTry, ledger: Pick<Storage['ledger'], 'append'>): void {
  const { generation, attempt, inputTokens } = record;
  const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: inputTokens }, estimated: true };
  const charged = { usage, cost: costOf(usage, price) };
  ledger.append({ ...generation, ...charged }, [{ ...attempt, ...charged }]);
}

/** Mark of one try, which tells after the death of this process whether its request was sent. */
export class TryMark {
  readonly #marks: SentMarkStore;
  readonly #deaths: number;
  #mark: SentMark | null = null;

  constructor(marks: SentMarkStore, { deaths }: Pick<HeldJob, 'deaths'>) {
    this.#marks = marks;
    this.#deaths = deaths;
  }

  /** Opens the mark before an upstream request. @returns the data to store */
  asked(record: RunningRecord, price: Price | null): InterruptedTry {
    this.#mark ??= this.#marks.open();
    return { record, price, mark: this.#mark?.id ?? null, deaths: this.#deaths };
  }

  sent(): void {
    this.#mark?.sent();
  }

  /** Closes the mark once the record exists, or none is needed. */
  close(): void {
    this.#mark?.close();
    this.#mark = null;
  }
}
