// Answers under idempotency keys, shared between processes.
export { ExchangedAnswers } from './exchanged-answers.ts';
export { StreamExchange } from './stream-exchange.ts';
