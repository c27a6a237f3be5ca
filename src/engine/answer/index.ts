// Answers to clients: a whole answer, a stream, one that is held until it was checked, one that several readers
// share, or a refusal.
export type {
  AnswerExchange,
  AnswerSource,
  FollowedEnd,
  Publication,
  PublicAnswer,
} from './answer-exchange.ts';
export { CheckedOutput } from './checked-output.ts';
export { answerHeaders, headerText } from './answer-headers.ts';
export { type ClientAnswer, StreamAnswer, WholeAnswer } from './client-answer.ts';
export { answerFromOtherReplica } from './other-replica.ts';
export { BufferedAnswer, HeldAnswer } from './held-answer.ts';
export {
  IDEMPOTENCY_HEADER,
  type IdempotencyLimits,
  type IdempotentAnswer,
  IdempotentAnswers,
  publicAnswer,
} from './idempotency.ts';
export { EVENT_STREAM, type StreamSource, StreamWriter } from './stream-writer.ts';
export { refusalStatus, refuse, retryHeaders } from './refuse.ts';
