// Failover: tries the candidates of a plan until one answers, and completes interrupted answers.
export { tryCandidates } from './failover.ts';
export { tryForText } from './text-trial.ts';
export type { TextInput } from './text-try.ts';
export type { Trial, TryTerms } from './candidate-queue.ts';
