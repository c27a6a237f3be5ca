// Records what tries of a job had cost whose process died with them: their upstreams charge it all the same. The record's id is
// that of the try, so that it stands in the ledger once, whoever writes it.
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

/** Begins the names of steps that say who was asked. */
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

/** A request whose upstream was asked, as it was known then. */
export interface InterruptedTry {
  readonly record: RunningRecord;
  readonly price: Price | null;
  /** Names the mark that says whether it was sent. Null: none does. */
  readonly mark?: string | null;
  /** How often a process had died with its job until then. */
  readonly deaths: number;
}

/** Whether a process died with the job since. */
export function hasDied({ deaths }: InterruptedTry, job: Pick<HeldJob, 'deaths'>): boolean {
  return deaths !== job.deaths;
}

/**
 * Records a request that nobody else can record any more, unless it never went out. Where no mark says so, a request of a process that
 * died counts as sent; a process that gave its job back has recorded what it sent.
 */
export function settleTry(tried: InterruptedTry, job: HeldJob, { ledger, marks }: Settling): void {
  const { record, price, mark } = tried;
  const wasSent = typeof mark === 'string' ? marks.wasSent(mark) : null;
  if (!(wasSent ?? hasDied(tried, job))) return;
  const { generation, attempt, inputTokens } = record;
  // Its prompt was read; how much was written, nobody knows any more.
  const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: inputTokens }, estimated: true };
  const charged = { usage, cost: costOf(usage, price) };
  ledger.append({ ...generation, ...charged }, [{ ...attempt, ...charged }]);
}

/** The mark of one try, which says after the death of this process whether its request went out. */
export class TryMark {
  readonly #marks: SentMarkStore;
  readonly #deaths: number;
  #mark: SentMark | null = null;

  constructor(marks: SentMarkStore, { deaths }: Pick<HeldJob, 'deaths'>) {
    this.#marks = marks;
    this.#deaths = deaths;
  }

  /** An upstream is about to be asked. @returns what is noted of that */
  asked(record: RunningRecord, price: Price | null): InterruptedTry {
    this.#mark ??= this.#marks.open();
    return { record, price, mark: this.#mark?.id ?? null, deaths: this.#deaths };
  }

  sent(): void {
    this.#mark?.sent();
  }

  /** Its record is made, or nothing is to be recorded of it. */
  close(): void {
    this.#mark?.close();
    this.#mark = null;
  }
}
