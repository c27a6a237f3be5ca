// Exports of the engine: the gateway, its calls and settings, and for probes the means to call an endpoint.
export { type AnswerAsking, type AskedAnswer, askForAnswer, collectAnswer } from './attempt/index.ts';
export {
  BATCH_KIND,
  BATCH_PURPOSE,
  lineEndpoints,
  type BatchDependencies,
  Batches,
  batchEvent,
  BatchPace,
  runBatch,
} from './batches/index.ts';
export type { ApiCall, Body, Client, ClientStream, Encoding, TurnMemory } from './call.ts';
export { Gateway } from './gateway.ts';
export {
  findTask,
  MODALITIES,
  postRoutes,
  type Task,
  TASK_FACTS,
  taskMaking,
  taskOf,
  TASKS,
  text,
} from './tasks/index.ts';
export type { GatewayDependencies } from './dependencies.ts';
export { EndUsers } from './end-users.ts';
export { outputOf, previousItems } from './admit/index.ts';
export {
  type AnswerExchange,
  type AnswerSource,
  type FollowedEnd,
  type PublicAnswer,
  type Publication,
  retryHeaders,
} from './answer/index.ts';
export { listModels, LocalModels } from './local-models.ts';
export { withDeferredUsage } from './deferred-usage.ts';
export type { RemoteCall } from './relay-remote.ts';
export type { FinishedRequest, RequestObserver, ToolRun } from './finished-request.ts';
export {
  ANSWER_KIND,
  BackgroundResponses,
  decideInterruptedTries,
  type JobOutcome,
  type JobRun,
  JobRunner,
  type JobRunnerOptions,
  type JobWork,
  makeAnswer,
  makeResponse,
  recordOfJob,
  RESPONSE_KIND,
  responseEvent,
  resultPath,
  type WorkDependencies,
} from './jobs/index.ts';
export {
  type Gone,
  KeptStream,
  KeptStreams,
  prefersAsync,
  type RemoteStream,
  type RemoteStreams,
} from './streams/index.ts';
export type { AttemptRecorder, PayloadRecorder, PayloadRecorders } from './payload-recorder.ts';
export { expiryOf } from './settings.ts';
export { FAILURE_RULES } from './failure-table.ts';
