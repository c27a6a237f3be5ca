// One limit that processes share, in one period: who holds which ceiling, and what those used who are gone.
import type { Claim, Holder, Lease } from './counter-store.ts';

interface Holding {
  settled: number;
  ceiling: number;
  expiresAtMs: number;
}

/** What somebody used, or may have used, who does not say so any more. */
interface Remains {
  /** Who may still come back and say so; null: nobody. */
  readonly holder: Holder | null;
  readonly amount: number;
  /** Unix milliseconds. */
  readonly untilMs: number;
}

interface Restoration {
  readonly fence: number;
  readonly expiresAtMs: number;
  /** What living holders had settled when it began: the ledger tells that, too. */
  readonly settled: number;
  /** Whose remains the ledger replaces. */
  readonly gone: ReadonlySet<Remains>;
}

export class SharedCounter {
  readonly period: number;
  readonly #lingersMs: number | null;
  readonly #holders = new Map<Holder, Holding>();
  #remains: readonly Remains[] = [];
  /** True once what the ledger knows is counted. */
  #isKnown: boolean;
  #restoration: Restoration | null = null;
  /** Fence of the restoration that was the last to be done. */
  #restoredFence = 0;

  /** @param isKnown true where the ledger has nothing to add */
  constructor(period: number, lingersMs: number | null, isKnown: boolean) {
    this.period = period;
    this.#lingersMs = lingersMs;
    this.#isKnown = isKnown;
  }

  claim(
    holder: Holder,
    claim: Claim,
    fence: number,
    expiresAtMs: number,
    nowMs: number,
  ): Pick<Lease, 'ceiling' | 'others' | 'needsLedger' | 'wasTakenOver'> {
    this.#expire(nowMs);
    const isBack = !this.#holders.has(holder) && claim.fence > 0;
    const left = isBack ? this.#remains.filter((remains) => remains.holder !== holder) : this.#remains;
    const wasTakenOver = isBack && left.length === this.#remains.length && this.#restoredFence > claim.fence;
    // Whoever is back speaks for itself again.
    this.#remains = left;
    this.#holders.delete(holder);
    const settled = wasTakenOver ? 0 : claim.settled;
    const used = claim.used - claim.settled + settled;
    const others = this.#others();
    const ceiling = used + (this.#isKnown ? share(claim, claim.limit - others - used) : 0);
    this.#holders.set(holder, { settled, ceiling, expiresAtMs });
    return { ceiling, others, needsLedger: !this.#isKnown, wasTakenOver };
  }

  leave(holder: Holder, claim: Claim, nowMs: number): void {
    this.#expire(nowMs);
    if (!this.#holders.delete(holder)) return;
    this.#keep(null, claim.used, nowMs);
  }

  /** True where nobody would miss it: it is empty, and the ledger does not have to be asked for a new one. */
  isForgettable(nowMs: number): boolean {
    this.#expire(nowMs);
    return this.#lingersMs !== null && this.#holders.size === 0 && this.#remains.length === 0;
  }

  mayRestore(nowMs: number): boolean {
    return this.#restoration === null || this.#restoration.expiresAtMs <= nowMs;
  }

  restoring(fence: number, expiresAtMs: number, nowMs: number): void {
    this.#expire(nowMs);
    const settled = [...this.#holders.values()].reduce((sum, holding) => sum + holding.settled, 0);
    this.#restoration = { fence, expiresAtMs, settled, gone: new Set(this.#remains) };
  }

  restored(fence: number, spent: number, nowMs: number): boolean {
    const restoration = this.#restoration;
    if (restoration?.fence !== fence || restoration.expiresAtMs <= nowMs) return false;
    this.#expire(nowMs);
    this.#remains = this.#remains.filter((remains) => !restoration.gone.has(remains));
    this.#keep(null, Math.max(0, spent - restoration.settled), nowMs);
    this.#isKnown = true;
    this.#restoration = null;
    this.#restoredFence = fence;
    return true;
  }

  /** A holder that did not renew its lease may have used all of it. */
  #expire(nowMs: number): void {
    for (const [holder, { ceiling, expiresAtMs }] of this.#holders) {
      if (expiresAtMs > nowMs) continue;
      this.#holders.delete(holder);
      this.#keep(holder, ceiling, expiresAtMs);
    }
    if (this.#remains.some(({ untilMs }) => untilMs <= nowMs))
      this.#remains = this.#remains.filter(({ untilMs }) => untilMs > nowMs);
  }

  #keep(holder: Holder | null, amount: number, sinceMs: number): void {
    if (amount <= 0) return;
    const untilMs = this.#lingersMs === null ? Infinity : sinceMs + this.#lingersMs;
    this.#remains = [...this.#remains, { holder, amount, untilMs }];
  }

  #others(): number {
    let sum = 0;
    for (const { ceiling } of this.#holders.values()) sum += ceiling;
    for (const { amount } of this.#remains) sum += amount;
    return sum;
  }
}

/** How much more a holder gets: what it needs or nothing, and of what it would like no more than half of the rest. */
function share({ need, want }: Claim, free: number): number {
  if (free < need) return 0;
  return Math.max(need, Math.min(want, Math.floor(free / 2)));
}
