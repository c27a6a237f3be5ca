// One shared counter in one period, for the store in memory. `shared.lua` implements the same for Redis. Its amount is the
// sum of the cells, and of the remains of dead processes.
import type { Cell, CounterState, Holder, Keeping, LedgerPart, Wanted } from './counter-store.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

interface CellState {
  used: number;
  readonly settled: number;
  isOpen: boolean;
  /** Unix milliseconds until which the cell counts. */
  readonly untilMs: UnixMs;
}

/** Usage of a dead process, or a sum of the ledger. */
interface ReplaceableUsage {
  /** True: the amount includes reservations of a dead process. The ledger corrects it. */
  readonly isVanished: boolean;
  readonly amount: number;
  readonly untilMs: UnixMs;
}

interface Restoration {
  readonly fence: number;
  readonly startedMs: UnixMs;
  /** Amount that live processes had settled at the start of the restore. The ledger's sum contains it. */
  readonly settled: number;
  /** Remains that the ledger's sum will replace. */
  readonly replaces: ReadonlySet<ReplaceableUsage>;
}

/** Leases after which the ledger is read again, if its sums may have counted something twice. */
const REVIEW_LEASES = 10;

export interface SharedCounterTerms extends Keeping {
  readonly period: number;
  readonly leaseMs: DurationMs;
  /** True if no sums of the ledger are needed. */
  readonly isKnown: boolean;
  /** Unix milliseconds at which the store created the counter. */
  readonly madeAtMs: UnixMs;
  /** Unix milliseconds of a holder's last call. */
  readonly lastSeenAt: (holder: Holder) => number;
}

export class SharedCounter {
  readonly period: number;
  readonly madeAtMs: UnixMs;
  readonly #terms: SharedCounterTerms;
  readonly #cells = new Map<string, CellState>();
  #total = 0;
  #remains: readonly ReplaceableUsage[] = [];
  #isKnown: boolean;
  #restoration: Restoration | null = null;
  /** Unix milliseconds at which the ledger is read again. */
  #reviewAtMs = Infinity;
  /** Unix milliseconds of the last settlement, and of the last restore from the ledger. */
  #changedAtMs = -Infinity;
  #restoredAtMs = -Infinity;
  /** Unix milliseconds at which the next amount is freed. */
  #nextMs = Infinity;

  constructor(terms: SharedCounterTerms) {
    this.#terms = terms;
    this.period = terms.period;
    this.madeAtMs = terms.madeAtMs;
    this.#isKnown = terms.isKnown;
  }

  /** Replaces a cell. */
  put({ cell, used, settled, isOpen, ageMs }: Cell, nowMs: UnixMs): void {
    this.#expire(nowMs);
    const { windowMs } = this.#terms;
    const before = this.#cells.get(cell);
    if ((before?.settled ?? 0) !== settled) this.#changed(nowMs);
    this.#drop(cell);
    const untilMs = windowMs === null || windowMs === 0 ? Infinity : nowMs - ageMs + windowMs;
    if (untilMs > nowMs && used > 0) this.#keep(cell, { used, settled, isOpen, untilMs }, nowMs);
  }

  /** Amount that can be granted now; `null`: not enough is available. @param isSettled false while data may be lost */
  free({ limit, need, want, clips }: Wanted, isSettled: boolean, nowMs: UnixMs): number | null {
    this.#expire(nowMs);
    const free = this.#isKnown && isSettled ? Math.max(0, limit - this.#total) : 0;
    if (free < need) return null;
    return clips ? Math.min(want, free) : want;
  }

  /** Reserves a granted amount in an existing cell. */
  grant(cell: Cell, amount: number, nowMs: UnixMs): void {
    this.put({ ...cell, used: (this.#cells.get(cell.cell)?.used ?? 0) + amount, isOpen: true }, nowMs);
  }

  state(nowMs: UnixMs): CounterState {
    this.#expire(nowMs);
    const isStale = this.#reviewAtMs <= nowMs || this.#remains.some(({ isVanished }) => isVanished);
    const needsLedger = this.#terms.isInLedger && (!this.#isKnown || isStale);
    return { total: this.#total, needsLedger, isUnknown: !this.#isKnown };
  }

  /** True if the counter holds nothing and can be removed. */
  isForgettable(nowMs: UnixMs): boolean {
    this.#expire(nowMs);
    return !this.#terms.isInLedger && this.#cells.size === 0;
  }

  /** @returns true if the caller may restore now; false while another process does */
  restoring(fence: number, nowMs: UnixMs): boolean {
    if (this.#restoration && this.#restoration.startedMs + this.#terms.leaseMs > nowMs) return false;
    this.#expire(nowMs);
    let settled = 0;
    for (const cell of this.#cells.values()) settled += cell.settled;
    this.#restoration = { fence, startedMs: nowMs, settled, replaces: new Set(this.#remains) };
    return true;
  }

  restored(fence: number, sums: readonly LedgerPart[], nowMs: UnixMs): boolean {
    const restoration = this.#restoration;
    const { leaseMs, windowMs } = this.#terms;
    if (restoration?.fence !== fence || restoration.startedMs + leaseMs <= nowMs) return false;
    this.#expire(nowMs);
    for (const remains of restoration.replaces) this.#dropRemains(remains);
    let counted = restoration.settled;
    for (const { amount, ageMs } of sums) {
      const seen = Math.min(counted, amount);
      counted -= seen;
      const untilMs = windowMs === null ? Infinity : nowMs - ageMs + windowMs;
      this.#remain({ amount: amount - seen, untilMs, isVanished: false }, nowMs);
    }
    this.#isKnown = true;
    this.#restoration = null;
    this.#restoredAtMs = nowMs;
    this.#reviewAtMs = Infinity;
    if (this.#changedAtMs + leaseMs > restoration.startedMs) this.#changed(this.#changedAtMs);
    return true;
  }

  /** Schedules another restore, because settlements near the time of the last one may be counted twice. */
  #changed(atMs: UnixMs): void {
    this.#changedAtMs = atMs;
    const { leaseMs } = this.#terms;
    if (atMs < this.#restoredAtMs + leaseMs) this.#reviewAtMs = this.#restoredAtMs + REVIEW_LEASES * leaseMs;
  }

  #keep(cell: string, kept: CellState, nowMs: UnixMs): void {
    this.#cells.set(cell, kept);
    this.#total += kept.used;
    const { leaseMs } = this.#terms;
    this.#nextMs = Math.min(
      this.#nextMs,
      this.#isWatched(kept) ? nowMs + leaseMs : kept.untilMs,
      kept.untilMs,
    );
  }

  #drop(cell: string): void {
    this.#total -= this.#cells.get(cell)?.used ?? 0;
    this.#cells.delete(cell);
  }

  #remain(remains: ReplaceableUsage, nowMs: UnixMs): void {
    if (remains.amount <= 0 || remains.untilMs <= nowMs) return;
    this.#remains = [...this.#remains, remains];
    this.#total += remains.amount;
    this.#nextMs = Math.min(this.#nextMs, remains.untilMs);
  }

  #dropRemains(remains: ReplaceableUsage): void {
    if (!this.#remains.includes(remains)) return;
    this.#remains = this.#remains.filter((one) => one !== remains);
    this.#total -= remains.amount;
  }

  /** True for cells that end with their process. */
  #isWatched({ isOpen }: CellState): boolean {
    return isOpen && (this.#terms.isInLedger || this.#terms.windowMs === 0);
  }

  #expire(nowMs: UnixMs): void {
    if (this.#nextMs > nowMs) return;
    this.#nextMs = Infinity;
    for (const [cell, kept] of this.#cells) {
      const aliveMs = this.#isWatched(kept) ? this.#aliveUntil(cell) : Infinity;
      if (Math.min(kept.untilMs, aliveMs) > nowMs) {
        this.#nextMs = Math.min(this.#nextMs, kept.untilMs, aliveMs);
        continue;
      }
      this.#drop(cell);
      if (kept.untilMs <= nowMs || this.#terms.windowMs === 0) continue;
      this.#remain({ amount: kept.used, untilMs: kept.untilMs, isVanished: true }, nowMs);
    }
    for (const remains of this.#remains)
      if (remains.untilMs <= nowMs) this.#dropRemains(remains);
      else this.#nextMs = Math.min(this.#nextMs, remains.untilMs);
  }

  #aliveUntil(cell: string): UnixMs {
    return this.#terms.lastSeenAt(cell.slice(0, cell.indexOf(':'))) + this.#terms.leaseMs;
  }
}
