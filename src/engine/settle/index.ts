// What remains of a request: its record, what it cost, and the turn that its client has kept.
export { keepTurn } from './keep-turn.ts';
export { settle } from './settle.ts';
