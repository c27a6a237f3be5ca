// Use of shared counters by this process, slot by slot, as it is reported. Each report replaces the one before.
import type { Cell, Slot } from '../../accounts/limits/index.ts';
import type { OwnCell, SharedCount } from './shared-count.ts';
import type { UnixMs } from '../../base/units.ts';

/** Cells from which those that count no more are taken away now and then. */
const LEAST_KEPT = 1024;
/** Cells without running requests that are remembered, for a store that loses its data. Names may be invented by the million. */
const MOST_KEPT = 100_000;
/** Time for which settled use of a budget is told again to a store that loses its data, in milliseconds: the ledger has the rest. */
const RECENT_MS = 10_000;

interface OwnCellsOptions {
  /** Names this process, unlike all others and those before. */
  readonly name: string;
  /** Milliseconds that only go forward, near Unix time. */
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

  /** Names this process at the store. */
  get holder(): string {
    return `${this.#options.name}.${this.#generation}`;
  }

  get hasDirty(): boolean {
    return this.#dirty.length > 0;
  }

  /** The cell of a slot. Its reservation is counted already. */
  of(count: SharedCount, slot: Slot): OwnCell {
    let cell = this.#bySlot.get(slot);
    if (!cell) {
      const number = (this.#lastNumber += 1);
      const period = count.counter.periodOf(slot);
      const generation = this.#generation;
      const rest = { base: 0, pending: 0, published: 0, isDirty: false, isKept: false, turn: 0, at: 0 };
      cell = { count, slot, number, period, generation, ...rest };
      this.#bySlot.set(slot, cell);
    } else this.#leaveToLedger(cell);
    if (!cell.isKept) this.#keep(cell);
    return cell;
  }

  /** The store must hear of a cell. */
  mark(cell: OwnCell): void {
    if (cell.isDirty) return;
    cell.isDirty = true;
    this.#dirty.push(cell);
  }

  /** @returns at most so many cells of which the store must hear; they count as told */
  takeDirty(most: number): readonly OwnCell[] {
    const cells = this.#dirty.splice(0, most);
    for (const cell of cells) cell.isDirty = false;
    return cells;
  }

  /** The store has lost what it was told. */
  publishAgain(): void {
    this.#forgetOver();
    for (const cell of this.#all) if (cell.slot.used > 0) this.mark(cell);
  }

  /** The store took this process for gone. It goes on under another name, and what it has settled is left to the ledger. */
  rename(): void {
    this.#generation += 1;
    for (const cell of this.#all) {
      if (cell.slot.reserved <= 0 && !cell.isDirty) continue;
      this.#leaveToLedger(cell);
      this.mark(cell);
    }
  }

  /** A cell as it is reported. */
  report(cell: OwnCell): Cell {
    const { count, slot, base, pending, period, number } = cell;
    const { windowMs, isInLedger } = count.keeping;
    const used = Math.max(0, slot.used - base - pending);
    cell.published = used;
    const isInUse = slot.reserved > pending;
    const settled = isInLedger && !slot.isLate ? Math.min(used, slot.used - base - slot.reserved) : 0;
    // A rate stays where it is when its process comes back: nobody else knows it.
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
    if (this.#all.length > this.#mostKept) this.#forgetOver();
  }

  #leaveToLedger(cell: OwnCell): void {
    if (cell.generation === this.#generation) return;
    cell.generation = this.#generation;
    if (cell.count.keeping.isInLedger) cell.base = Math.max(0, cell.slot.used - cell.slot.reserved);
  }

  #forgetOver(): void {
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
