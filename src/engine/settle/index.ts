// Settlement of a request: its record, its cost, and the turn stored for its client.
export { keep, type KeepResult, NOT_STORED } from './keep.ts';
export { settle } from './settle.ts';
