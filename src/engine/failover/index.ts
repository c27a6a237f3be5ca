// The candidates of a plan, until one answers: when to wait, to hedge, to move on, to stop, and who completes an answer that
// broke off.
export type { FailedTry } from './failover.ts';
export type { RunningTry } from './race.ts';
export { Tries } from './tries.ts';
export { TryRunner, type TryRunnerInput } from './try-runner.ts';
