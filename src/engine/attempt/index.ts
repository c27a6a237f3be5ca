// One attempt at one endpoint: prepares and sends the request, reads and meters the answer. Independent of other
// endpoints and of the client's protocol.
export { collectAnswer } from './collect-answer.ts';
export { type AnswerAsking, type AskedAnswer, askForAnswer } from './ask-for-answer.ts';
export { askEndpoint } from './ask-endpoint.ts';
export { sendToOwner } from './send-to-owner.ts';
export { askUpstream, type ShortAnswer } from './ask-upstream.ts';
export type { AttemptOutput } from './attempt-input.ts';
export { Attempt } from './attempt.ts';
export { isOneOf } from './answer-reader.ts';
export { redactedError, summariseError } from './error-words.ts';
export { fitRequest, prepareAttempt, prepareRepair, refuseLosses, targetOf } from './prepare.ts';
export { LearnedRefusals } from './learned-refusals.ts';
export type { Meter } from './meter.ts';
export type { PreparedAttempt, PreparedText } from './prepared.ts';
export { runAttempt } from './run-attempt.ts';
