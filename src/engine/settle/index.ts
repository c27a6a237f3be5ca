// Remains of a request: its record, what it cost, and the turn that its client has kept.
export { keep, type Kept, NOTHING_KEPT } from './keep.ts';
export { settle } from './settle.ts';
