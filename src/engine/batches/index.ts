// Batches: many requests in one file.
export { BATCH_PURPOSE, Batches } from './batches.ts';
export { batchEvent } from './batch-event.ts';
export { BatchPace } from './batch-pace.ts';
export type { BatchDependencies } from './batch-settings.ts';
export { BATCH_KIND, runBatch } from './batch-work.ts';
export { lineEndpoints } from './line-request.ts';
