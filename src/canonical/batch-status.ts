// Status of a batch, as OpenAI names them (API reference, "Batch", 2026-11). The last four are final.
export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';
