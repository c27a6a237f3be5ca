// Traces: spans of requests, exported to a collector.
export { type Collector, TraceExporter } from './exporter.ts';
export type { Span } from './span.ts';
