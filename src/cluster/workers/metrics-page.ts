// Metrics page of one process, or of all workers, in the text format of Prometheus.

export interface MetricsPage {
  readonly text: string;
  readonly contentType: string;
}
