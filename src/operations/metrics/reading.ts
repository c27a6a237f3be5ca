// Values of a metric when it is asked, each under its labels. Knows no format of output.
import type { Histogram } from './histogram.ts';
import type { Label, METRICS, MetricName } from './names.ts';

/** Values of labels, by the program's names for them. */
export type LabelValues = Readonly<Partial<Record<Label, string>>>;

export interface Sample {
  readonly labels: LabelValues;
  readonly value: number;
}

export interface Distribution {
  readonly labels: LabelValues;
  readonly histogram: Histogram;
}

type Type<Name extends MetricName> = (typeof METRICS)[Name]['type'];

/** Reads each metric as it is now: all of them, or the program does not compile. */
export type Readings = {
  readonly [Name in MetricName]: () => Iterable<Type<Name> extends 'histogram' ? Distribution : Sample>;
};

/** One value without labels. */
export function single(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}
