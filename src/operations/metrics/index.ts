// Metrics of the gateway, exposed to Prometheus.
export { Histogram } from './histogram.ts';
export { LABELS, METRICS, type MetricDefinition } from './names.ts';
export { type Exposed, lazyExposition } from './lazy-exposition.ts';
export { type Readings, type Sample, single } from './reading.ts';
export { operationOf, RequestMetrics } from './request-metrics.ts';
