// Jobs: work that outlives the connection that requested it.
export { ANSWER_KIND, makeAnswer, recordOfJob } from './answer-job.ts';
export { BackgroundResponses, resultPath } from './background-responses.ts';
export { hasDied, type InterruptedTry, settleTry, TryMark } from './interrupted.ts';
export { decideInterruptedTries } from './interrupted-tries.ts';
export {
  CANCELLED,
  type JobOutcome,
  type JobRun,
  JobRunner,
  type JobRunnerOptions,
  type JobWork,
  LOST,
} from './job-runner.ts';
export { responseEvent } from './response-event.ts';
export { type CallPayload, keptHeaders, RESPONSE_KIND } from './response-job.ts';
export { waitFor, type WorkDependencies } from './job-call.ts';
export { makeResponse } from './response-work.ts';
export { storeRetryMs } from './unstored-answer.ts';
export { isNewReason } from './wait-reason.ts';
export { WholeClient } from './whole-client.ts';
