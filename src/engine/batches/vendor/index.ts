// Lines of batches at vendors' batch APIs.
export type { CollectedResults } from './collected-results.ts';
export { readyAnswer } from './ready-answer.ts';
export { type AnsweredLine, DEFERRED, VendorBatches } from './vendor-batches.ts';
