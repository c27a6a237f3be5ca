// What is counted of the tries at one model of one provider.
import type { ErrorKind } from '../canonical/index.ts';
import type { AttemptRecord } from '../ledger/index.ts';
import { Histogram } from './histogram.ts';
import { METRICS } from './names.ts';
import type { LabelValues } from './reading.ts';
import type { SeriesName } from './series-book.ts';
import { Tally } from './tally.ts';

export class AttemptSeries {
  readonly labels: LabelValues;
  readonly outcomes = new Tally<AttemptRecord['outcome']>();
  readonly errors = new Tally<ErrorKind>();
  readonly duration = new Histogram(METRICS.attemptDuration.buckets);
  /** Times that another endpoint was tried after this one had failed, and that this one was tried again. */
  failovers = 0;
  retries = 0;

  constructor({ provider, model }: SeriesName) {
    this.labels = { provider, model };
  }

  add({ outcome, error, startedAt, endedAt }: AttemptRecord): void {
    this.outcomes.add(outcome);
    if (error) this.errors.add(error.kind);
    this.duration.add((endedAt - startedAt) / 1000);
  }
}
