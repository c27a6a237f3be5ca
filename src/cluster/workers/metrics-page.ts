// All metrics of one process, or of all workers added up, in Prometheus' text format.

export interface MetricsPage {
  readonly text: string;
  readonly contentType: string;
}
