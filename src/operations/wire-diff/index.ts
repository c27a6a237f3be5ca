// Compares two sides of the same request by meaning.
export { type Diff, diffSides, ROW_STATES } from './diff.ts';
export { answerText, readAnswer, readRequest } from './read-sides.ts';
