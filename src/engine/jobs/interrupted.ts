// Records the cost of tries whose process died, because their upstreams charge it anyway. The record has the try's id,
// so it is written to the ledger only once.
import { NO_USAGE } from '../../canonical/index.ts';
import type {
  HeldJob,
  JobStep,
  RunningRecord,
  SentMark,
  SentMarkStore,
  Storage,
} from '../../accounts/ports/index.ts';
import { costOf } from '../../accounts/ledger/index.ts';
import type { Price } from '../../catalog/index.ts';
import { recordIdOf } from './response-job.ts';

/** Prefix of steps that store which endpoint was called. */
export const ASKED_STEP = 'asked:';

type Settling = Pick<Storage, 'ledger' | 'marks'>;

/** @param steps of the job */
export async function settleInterrupted(
  job: HeldJob,
  id: string,
  steps: readonly JobStep[],
  settling: Settling,
): Promise<void> {
  const { attempt, projectId } = job;
  for (const { name, detail } of steps) {
    const of = name.startsWith(ASKED_STEP) ? Number(name.slice(ASKED_STEP.length)) : attempt;
    if (of >= attempt || (await settling.ledger.find(recordIdOf(id, of), projectId))) continue;
    settleTry(JSON.parse(detail) as InterruptedTry, job, settling);
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
 * Records an interrupted request, unless it was never sent. Without a mark, a request of a crashed process counts as sent. A
 * process that released its job has recorded its requests itself.
 */
export function settleTry(tried: InterruptedTry, job: HeldJob, { ledger, marks }: Settling): void {
  const { record, price, mark } = tried;
  const wasSent = typeof mark === 'string' ? marks.wasSent(mark) : null;
  if (!(wasSent ?? hasDied(tried, job))) return;
  const { generation, attempt, inputTokens } = record;
  // The prompt was read. The size of the output is unknown.
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
