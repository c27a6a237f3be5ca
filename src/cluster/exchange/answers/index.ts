// Answers under idempotency keys, as one process has them from others and for others.
export { ExchangedAnswers } from './exchanged-answers.ts';
export { StreamExchange } from './stream-exchange.ts';
