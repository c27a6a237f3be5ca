// What the client gets: a whole answer, a stream, one that is held back until it was checked, one that several readers
// share, or a refusal.
export { CheckedOutput } from './checked-output.ts';
export { type ClientAnswer, StreamAnswer, WholeAnswer } from './client-answer.ts';
export { BufferedAnswer, HeldAnswer } from './held-answer.ts';
export {
  IDEMPOTENCY_HEADER,
  type IdempotencyLimits,
  type IdempotentAnswer,
  IdempotentAnswers,
} from './idempotency.ts';
export { refusalStatus, refuse, retryHeaders } from './refuse.ts';
