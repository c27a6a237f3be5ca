// One limit that processes share, in one period: who holds which ceiling, and what those used who are gone.
import { type Claim, type Holder, isInLedger, type Lease } from './counter-store.ts';

interface Holding {
  settled: number;
  ceiling: number;
  expiresAtMs: number;
  readonly turn: number;
  /** Fence of the lease that told its holder that it was taken for dead; 0: it was not. */
  readonly takenOverAt: number;
}

/** What somebody used, or may have used, who does not say so any more. */
interface Remains {
  /** Who may still come back and say so; null: nobody. */
  readonly holder: Holder | null;
  /** The last in which the holder was heard. */
  readonly turn: number;
  /** That of its holding. */
  readonly takenOverAt?: number;
  readonly amount: number;
  /** Unix milliseconds. */
  readonly untilMs: number;
}

interface Restoration {
  readonly fence: number;
  readonly expiresAtMs: number;
  /** What living holders had settled when it began: the ledger tells that, too. */
  readonly settled: number;
  /** When it began, in Unix milliseconds, and how long leases hold. */
  readonly atMs: number;
  readonly leaseMs: number;
  /** Whose remains the ledger replaces. */
  readonly gone: ReadonlySet<Remains>;
}

interface CounterTerms extends Pick<Claim, 'lingersMs' | 'reviewMs'> {
  readonly period: number;
  /** True where the ledger has nothing to add. */
  readonly isKnown: boolean;
  /** Since when it is counted here, in Unix milliseconds. */
  readonly madeAtMs: number;
}

/** What the store adds to a claim. */
interface ClaimTerms {
  readonly turn: number;
  /** That of the lease to be given. */
  readonly fence: number;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  /** False as long as somebody may hold a lease that the store has forgotten. */
  readonly isSettled: boolean;
}

type Granted = Pick<Lease, 'ceiling' | 'others' | 'fairShare' | 'needsLedger' | 'wasTakenOver'>;

/** How long the others are told that somebody could not get what it needs, in milliseconds. */
const CONTENDED_MS = 3000;

export class SharedCounter {
  readonly period: number;
  readonly madeAtMs: number;
  readonly #lingersMs: number;
  readonly #reviewMs: number;
  readonly #isInLedger: boolean;
  readonly #holders = new Map<Holder, Holding>();
  #remains: readonly Remains[] = [];
  /** True once what the ledger knows is counted. */
  #isKnown: boolean;
  #restoration: Restoration | null = null;
  /** Fence of the restoration that was the last to be done. */
  #restoredFence = 0;
  /** When the ledger is asked again, in Unix milliseconds. */
  #reviewAtMs = Infinity;
  /** When a holder last said that it had settled more, in Unix milliseconds. */
  #changedAtMs = -Infinity;
  /** When somebody last could not get what it needs, in Unix milliseconds. */
  #refusedAtMs = -Infinity;

  constructor({ period, lingersMs, reviewMs, isKnown, madeAtMs }: CounterTerms) {
    this.period = period;
    this.madeAtMs = madeAtMs;
    this.#lingersMs = lingersMs ?? Infinity;
    this.#reviewMs = reviewMs ?? Infinity;
    this.#isInLedger = isInLedger({ lingersMs, reviewMs });
    this.#isKnown = isKnown;
  }

  claim(holder: Holder, claim: Claim, terms: ClaimTerms): Granted {
    const { turn, fence, expiresAtMs, nowMs, isSettled } = terms;
    this.#expire(nowMs);
    if (turn <= this.#lastTurnOf(holder)) return this.#granted(holder, claim, nowMs, false);
    const held = this.#holders.get(holder);
    const isBack = !held && claim.fence > 0;
    const gone = isBack ? this.#goneOf(holder) : undefined;
    const isCounted = isBack && !gone && this.#restoredFence > claim.fence;
    // Of a window that rolls, the ledger has to say again what is left of that.
    if (isCounted && claim.reviewMs !== null) this.#reviewAtMs = nowMs;
    // One that has not heard of it is told again: a message of before that came late may have had the answer.
    const toldAt = (held ?? gone)?.takenOverAt ?? 0;
    const wasTakenOver = claim.fence < toldAt || (isCounted && claim.reviewMs === null);
    const takenOverAt = toldAt === 0 && wasTakenOver ? fence : toldAt;
    // Whoever is back speaks for itself again.
    if (gone) this.#remains = this.#remains.filter((remains) => remains.holder !== holder);
    const settled = wasTakenOver ? 0 : claim.settled;
    const before = held?.settled ?? 0;
    if (settled !== before) this.#changedAtMs = nowMs;
    // Of a period nothing comes free: what somebody says no more, it has left to others, and the ledger has it.
    if (this.#lingersMs === Infinity && settled < before) {
      this.#keep({ holder: null, turn, amount: before - settled, untilMs: Infinity }, nowMs);
      this.#reviewAtMs = nowMs;
    }
    this.#holders.delete(holder);
    const used = claim.used - claim.settled + settled;
    const mayLease = this.#isKnown && isSettled;
    const free = mayLease ? claim.limit - this.#others() - used : 0;
    if (mayLease && claim.need > free) this.#refusedAtMs = nowMs;
    const ceiling = used + share(claim, free);
    this.#holders.set(holder, { settled, ceiling, expiresAtMs, turn, takenOverAt });
    return this.#granted(holder, claim, nowMs, wasTakenOver);
  }

  leave(holder: Holder, claim: Claim, turn: number, nowMs: number): void {
    this.#expire(nowMs);
    if (turn <= this.#lastTurnOf(holder) || !this.#holders.delete(holder)) return;
    this.#changedAtMs = nowMs;
    this.#keep({ holder: null, turn, amount: claim.used, untilMs: nowMs + this.#lingersMs }, nowMs);
  }

  /** True where nobody would miss it: it is empty, and the ledger does not have to be asked for a new one. */
  isForgettable(nowMs: number): boolean {
    this.#expire(nowMs);
    return !this.#isInLedger && this.#holders.size === 0 && this.#remains.length === 0;
  }

  mayRestore(nowMs: number): boolean {
    return this.#restoration === null || this.#restoration.expiresAtMs <= nowMs;
  }

  restoring(fence: number, expiresAtMs: number, nowMs: number): void {
    this.#expire(nowMs);
    const settled = [...this.#holders.values()].reduce((sum, holding) => sum + holding.settled, 0);
    const leaseMs = expiresAtMs - nowMs;
    this.#restoration = { fence, expiresAtMs, settled, atMs: nowMs, leaseMs, gone: new Set(this.#remains) };
  }

  restored(fence: number, spent: number, nowMs: number): boolean {
    const restoration = this.#restoration;
    if (restoration?.fence !== fence || restoration.expiresAtMs <= nowMs) return false;
    this.#expire(nowMs);
    const replaced = this.#remains.filter((remains) => restoration.gone.has(remains));
    // Of a window that rolls, what somebody used who is gone counts no longer than before: the ledger only knows better how much.
    const untilMs =
      this.#isKnown && this.#lingersMs < Infinity
        ? Math.max(0, ...replaced.map((remains) => remains.untilMs))
        : nowMs + this.#lingersMs;
    this.#remains = this.#remains.filter((remains) => !restoration.gone.has(remains));
    this.#keep({ holder: null, turn: 0, amount: Math.max(0, spent - restoration.settled), untilMs }, nowMs);
    this.#isKnown = true;
    this.#restoration = null;
    this.#restoredFence = fence;
    // What somebody settled meanwhile may count twice: that is found out when less goes on.
    const isExact = this.#changedAtMs + restoration.leaseMs <= restoration.atMs;
    this.#reviewAtMs =
      nowMs + (isExact ? this.#reviewMs : Math.min(this.#reviewMs, 10 * restoration.leaseMs));
    return true;
  }

  #granted(holder: Holder, { limit, used }: Claim, nowMs: number, wasTakenOver: boolean): Granted {
    const ceiling = this.#holders.get(holder)?.ceiling ?? used;
    const others = this.#others() - (this.#holders.get(holder)?.ceiling ?? 0);
    const isContended = this.#refusedAtMs + CONTENDED_MS > nowMs;
    const fairShare = isContended ? Math.floor(limit / Math.max(1, this.#holders.size)) : limit;
    return { ceiling, others, fairShare, needsLedger: this.#needsLedger(nowMs), wasTakenOver };
  }

  /** The ledger knows better: what a rolling window has lost meanwhile, and what somebody used who has vanished. */
  #needsLedger(nowMs: number): boolean {
    if (!this.#isKnown) return true;
    if (!this.#isInLedger) return false;
    if (this.#remains.some(({ holder }) => holder !== null)) return true;
    // Where nobody is gone it would say what the living say themselves.
    return this.#reviewAtMs <= nowMs && this.#remains.length > 0;
  }

  #lastTurnOf(holder: Holder): number {
    const holding = this.#holders.get(holder);
    return (holding ?? this.#goneOf(holder))?.turn ?? 0;
  }

  /** What it used, or may have used, before it was taken for dead. */
  #goneOf(holder: Holder): Remains | undefined {
    return this.#remains.findLast((remains) => remains.holder === holder);
  }

  /** A holder that did not renew its lease may have used all of it. */
  #expire(nowMs: number): void {
    for (const [holder, { ceiling, turn, takenOverAt, expiresAtMs }] of this.#holders) {
      if (expiresAtMs > nowMs) continue;
      this.#holders.delete(holder);
      const untilMs = expiresAtMs + this.#lingersMs;
      this.#keep({ holder, turn, takenOverAt, amount: ceiling, untilMs }, nowMs);
    }
    if (this.#remains.some(({ untilMs }) => untilMs <= nowMs))
      this.#remains = this.#remains.filter(({ untilMs }) => untilMs > nowMs);
  }

  #keep(remains: Remains, nowMs: number): void {
    if (remains.amount > 0 && remains.untilMs > nowMs) this.#remains = [...this.#remains, remains];
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
