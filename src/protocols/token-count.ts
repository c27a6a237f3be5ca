// Token counts as upstreams write them, which may be wrong or contradict each other. Knows no members.
import { asNumber } from '../canonical/index.ts';

/** The count in tokens: never negative, never a fraction; 0 for what is no number. */
export function tokenCount(value: unknown): number {
  return Math.floor(Math.max(asNumber(value) ?? 0, 0));
}

/** A total that is split into classes: some upstreams count more in one than there are, and the sum must hold. */
export class TokenRoom {
  /** What no class has taken. */
  left: number;

  constructor(total: number) {
    this.left = total;
  }

  /** @returns what of `wanted` there is room for */
  take(wanted: number): number {
    const taken = Math.max(Math.min(wanted, this.left), 0);
    this.left -= taken;
    return taken;
  }
}
