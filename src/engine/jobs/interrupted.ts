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
  { attempt, projectId }: HeldJob,
  id: string,
  steps: readonly JobStep[],
  { ledger, marks }: Settling,
): Promise<void> {
  for (const { name, detail } of steps) {
    const of = name.startsWith(ASKED_STEP) ? Number(name.slice(ASKED_STEP.length)) : attempt;
    if (of >= attempt || (await ledger.find(recordIdOf(id, of), projectId))) continue;
    settleTry(JSON.parse(detail) as InterruptedTry, { ledger, marks });
  }
}

/** A request whose upstream was asked, as it was known then. */
export interface InterruptedTry {
  readonly record: RunningRecord;
  readonly price: Price | null;
  /** Names the mark that says whether it was sent. Null: it counts as sent. */
  readonly mark?: string | null;
}

/** Records a request that nobody else can record any more, unless it never went out. */
export function settleTry({ record, price, mark }: InterruptedTry, { ledger, marks }: Settling): void {
  if (typeof mark === 'string' && marks.wasSent(mark) === false) return;
  const { generation, attempt, inputTokens } = record;
  // Its prompt was read; how much was written, nobody knows any more.
  const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: inputTokens }, estimated: true };
  const charged = { usage, cost: costOf(usage, price) };
  ledger.append({ ...generation, ...charged }, [{ ...attempt, ...charged }]);
}

/** The mark of one try, which says after the death of this process whether its request went out. */
export class TryMark {
  readonly #marks: SentMarkStore;
  #mark: SentMark | null = null;

  constructor(marks: SentMarkStore) {
    this.#marks = marks;
  }

  /** An upstream is about to be asked. @returns what is noted of that */
  asked(record: RunningRecord, price: Price | null): InterruptedTry {
    this.#mark ??= this.#marks.open();
    return { record, price, mark: this.#mark?.id ?? null };
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
