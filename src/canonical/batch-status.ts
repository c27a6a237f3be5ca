// Status of a batch, in the words of OpenAI's batches (API reference, "Batch", 2026-11). The last four are ends.
export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';
