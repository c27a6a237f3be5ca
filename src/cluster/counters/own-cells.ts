// This process's usage of shared counters per slot, as reported to the store. Each report replaces the previous one.
import type { Cell, Slot } from '../../accounts/limits/index.ts';
import type { OwnCell, SharedCount } from './shared-count.ts';
import type { UnixMs } from '../../base/units.ts';

/** Number of cells from which on expired ones are removed periodically. */
const LEAST_KEPT = 1024;
/** Cells without running requests that are kept, for a store that loses its data. Bounded, because user names are arbitrary. */
const MOST_KEPT = 100_000;
/** Milliseconds for which settled usage of a budget is reported again to a store that lost its data. The ledger has the rest. */
const RECENT_MS = 10_000;

interface OwnCellsOptions {
  /** Unique name of this process. */
  readonly name: string;
  /** Monotonic milliseconds, close to Unix time. */
  readonly now: () => UnixMs;
}

export class OwnCells {
  readonly #options: OwnCellsOptions;
  readonly #bySlot = new WeakMap<Slot, OwnCell>();
  #all: OwnCell[] = [];
  #mostKept = LEAST_KEPT;
  #dirty: OwnCell[] = [];
  #generation = 1;
  #lastNumber = 0;

  constructor(options: OwnCellsOptions) {
    this.#options = options;
  }

  /** Name of this process at the store. */
  get holder(): string {
    return `${this.#options.name}.${this.#generation}`;
  }

  get hasDirty(): boolean {
    return this.#dirty.length > 0;
  }

  /** Cell of a slot, whose reservation is already counted. */
  of(count: SharedCount, slot: Slot): OwnCell {
    let cell = this.#bySlot.get(slot);
    if (!cell) {
      const number = (this.#lastNumber += 1);
      const period = count.counter.periodOf(slot);
      const generation = this.#generation;
      const rest = { base: 0, pending: 0, published: 0, isDirty: false, isKept: false, turn: 0, at: 0 };
      cell = { count, slot, number, period, generation, ...rest };
      this.#bySlot.set(slot, cell);
    } else this.#resetToLedger(cell);
    if (!cell.isKept) this.#keep(cell);
    return cell;
  }

  /** Marks a cell to be reported. */
  mark(cell: OwnCell): void {
    if (cell.isDirty) return;
    cell.isDirty = true;
    this.#dirty.push(cell);
  }

  /** Takes up to `most` cells to report. They count as reported. */
  takeDirty(most: number): readonly OwnCell[] {
    const cells = this.#dirty.splice(0, most);
    for (const cell of cells) cell.isDirty = false;
    return cells;
  }

  /** Marks all cells to be reported again, after the store lost its data. */
  publishAgain(): void {
    this.#evict();
    for (const cell of this.#all) if (cell.slot.used > 0) this.mark(cell);
  }

  /** Continues under another name, after the store declared this process dead. Settled usage is left to the ledger. */
  rename(): void {
    this.#generation += 1;
    for (const cell of this.#all) {
      if (cell.slot.reserved <= 0 && !cell.isDirty) continue;
      this.#resetToLedger(cell);
      this.mark(cell);
    }
  }

  /** Report of a cell. */
  report(cell: OwnCell): Cell {
    const { count, slot, base, pending, period, number } = cell;
    const { windowMs, isInLedger } = count.keeping;
    const used = Math.max(0, slot.used - base - pending);
    cell.published = used;
    const isInUse = slot.reserved > pending;
    const settled = isInLedger && !slot.isLate ? Math.min(used, slot.used - base - slot.reserved) : 0;
    // Usage of rates is reported again, because it is not in the ledger.
    const isRate = !isInLedger && windowMs !== 0;
    return {
      counter: count.name,
      period,
      windowMs,
      isInLedger,
      cell: `${isRate ? this.#options.name : this.holder}:${number}`,
      used,
      settled: Math.max(0, settled),
      isOpen: isInUse,
      ageMs: Math.max(0, this.#options.now() - slot.lastMs),
    };
  }

  #keep(cell: OwnCell): void {
    cell.isKept = true;
    this.#all.push(cell);
    if (this.#all.length > this.#mostKept) this.#evict();
  }

  #resetToLedger(cell: OwnCell): void {
    if (cell.generation === this.#generation) return;
    cell.generation = this.#generation;
    if (cell.count.keeping.isInLedger) cell.base = Math.max(0, cell.slot.used - cell.slot.reserved);
  }

  #evict(): void {
    const now = this.#options.now();
    let tooMany = this.#all.length - MOST_KEPT;
    this.#all = this.#all.filter((cell) => {
      const { slot, count, isDirty } = cell;
      const { windowMs, isInLedger } = count.keeping;
      const keptMs = isInLedger ? RECENT_MS : (windowMs ?? 0);
      const mayGo = slot.reserved <= 0 && !isDirty;
      cell.isKept = !mayGo || (tooMany <= 0 && slot.used > 0 && slot.lastMs + keptMs > now);
      if (!cell.isKept) tooMany -= 1;
      return cell.isKept;
    });
    this.#mostKept = Math.max(LEAST_KEPT, 2 * this.#all.length);
  }
}
