// Traces: what each request did, told to a collector afterwards.
export { type Collector, TraceExporter } from './exporter.ts';
export type { Span } from './span.ts';
