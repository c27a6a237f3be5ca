// Renders all metrics in the Prometheus text format. Loaded with the first scrape.
import { type Metric, Registry } from 'prom-client';
import type { Histogram } from './histogram.ts';
import { LABELS, METRICS, type Label, type MetricDefinition, type MetricName } from './names.ts';
import type { Distribution, LabelValues, Readings, Sample } from './reading.ts';

/** One line of a metric. */
interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Content type of the result of `expose`. */
export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** @returns a function that renders the current values of all metrics */
export function exposition(readings: Readings): () => Promise<string> {
  const registry = new Registry();
  for (const key of Object.keys(METRICS) as MetricName[]) {
    const { name, help, type }: MetricDefinition = METRICS[key];
    // The registry only calls `get`. Its own metric types would hash labels on every request.
    const metric = { name, get: async () => ({ name, help, type, values: linesOf(name, readings[key]()) }) };
    registry.registerMetric(metric as unknown as Metric);
  }
  return () => registry.metrics();
}

function linesOf(name: string, readings: Iterable<Sample | Distribution>): readonly Line[] {
  const lines: Line[] = [];
  for (const reading of readings) {
    const labels = named(reading.labels);
    if ('histogram' in reading) lines.push(...bucketsOf(name, labels, reading.histogram));
    else lines.push({ labels, value: reading.value });
  }
  return lines;
}

function bucketsOf(name: string, labels: Line['labels'], histogram: Histogram): readonly Line[] {
  const { bounds, counts, sum } = histogram;
  let total = 0;
  const lines = counts.map((count, at): Line => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: total };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

function named(values: LabelValues): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([label, value]) => [LABELS[label as Label].name, value]),
  );
}
