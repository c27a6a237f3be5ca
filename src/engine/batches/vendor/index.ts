// Lines of batches at their vendors' own batch APIs.
export { readyAnswer } from './ready-answer.ts';
export { type AnsweredLine, DEFERRED, type EndedGroup, VendorBatches } from './vendor-batches.ts';
