// Current values of metrics with their labels, independent of the output format.
import type { Histogram } from './histogram.ts';
import type { Label, METRICS, MetricName } from './names.ts';

/** Label values by the labels' short names. */
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

/** Reads each metric. The type requires all of them. */
export type Readings = {
  readonly [Name in MetricName]: () => Iterable<Type<Name> extends 'histogram' ? Distribution : Sample>;
};

/** A single value without labels. */
export function single(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}
