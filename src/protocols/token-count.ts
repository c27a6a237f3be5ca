// One token count as an upstream writes it. Knows no members.
import { asNumber } from '../canonical/index.ts';

/** The count in tokens: never negative, never a fraction; 0 for what is no number. */
export function tokenCount(value: unknown): number {
  return Math.floor(Math.max(asNumber(value) ?? 0, 0));
}
