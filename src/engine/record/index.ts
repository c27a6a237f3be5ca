// Record of a finished request, and the turn stored for its client.
export { recordRequest } from './record-request.ts';
export { NOT_STORED, storeAnswer, type StoredAnswer } from './store-answer.ts';
