// Failover: tries the candidates of a plan until one answers, and completes interrupted answers.
export { tryCandidates } from './failover.ts';
export type { Trial, TryTerms } from './candidate-queue.ts';
export { type TextInput, tryForText } from './try-text.ts';
