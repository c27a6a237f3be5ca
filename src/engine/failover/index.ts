// The candidates of a plan, until one answers: when to wait, to hedge, to move on, to stop, and who completes an answer that
// broke off.
export { tryCandidates } from './failover.ts';
export type { Trial, TryTerms } from './candidate-queue.ts';
export { type TextInput, tryForText } from './try-text.ts';
