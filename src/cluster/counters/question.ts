// A request that waits for the store to grant amounts. While it waits, its reservations are excluded from the reports of
// this process.
import type { GrantRequest, Wanted } from '../../accounts/limits/index.ts';
import type { OwnCell, SharedCount } from './shared-count.ts';
import type { UnixMs } from '../../base/units.ts';

export class Question {
  readonly cells: readonly OwnCell[];
  /** Monotonic milliseconds until which it waits. */
  untilMs: number;
  /** True once it is answered or cancelled. */
  isOver = false;
  /** Indexes of the amounts requested from the store. */
  #remote: readonly number[] = [];
  readonly #asked: readonly GrantRequest[];
  readonly #done: (granted: readonly number[] | null) => void;

  constructor(
    asked: readonly GrantRequest[],
    cells: readonly OwnCell[],
    untilMs: number,
    done: (granted: readonly number[] | null) => void,
  ) {
    this.#asked = asked;
    this.cells = cells;
    this.untilMs = untilMs;
    this.#done = done;
    this.#wait(1);
  }

  /** True if the store cannot decide about any of its amounts. */
  get isUndecidable(): boolean {
    return this.cells.every(({ count }) => count.isUndecidable);
  }

  /** Amounts to request from the store now. The others are decided locally. */
  wanted(): readonly Wanted[] {
    this.#remote = [...this.cells.keys()].filter((at) => !this.cells[at]?.count.isUndecidable);
    return this.#remote.flatMap((index) => {
      const [one, cell] = [this.#asked[index], this.cells[index]];
      if (!one || !cell) return [];
      const { need, want, clips } = one;
      return [{ at: cell.at, limit: cell.count.limit.rule.amount, need, want, clips }];
    });
  }

  /** Cell and needed amount of one amount requested from the store. */
  remote(index: number): { readonly cell: OwnCell | undefined; readonly need: number } {
    const at = this.#remote[index] ?? 0;
    return { cell: this.cells[at], need: this.#asked[at]?.need ?? 0 };
  }

  /**
   * Decides without the store.
   * @param roomOf highest usage that a counter may reach
   * @returns cells to report
   */
  decide(nowMs: UnixMs, roomOf: (count: SharedCount) => number): readonly OwnCell[] {
    const own = this.cells.map((cell, at) => this.#ownPart(at, roomOf(cell.count), nowMs));
    return this.#finish(own, []);
  }

  /** Applies the granted amounts. @returns cells to report */
  grant(granted: readonly number[], nowMs: UnixMs): readonly OwnCell[] {
    if (this.isOver) return this.cells;
    const all = this.cells.map(({ count }, at) => {
      const index = this.#remote.indexOf(at);
      return index < 0 ? this.#ownPart(at, count.room(), nowMs) : (granted[index] ?? null);
    });
    return this.#finish(all, this.#remote);
  }

  /** Ends without any amount. */
  refuse(): void {
    this.#finish([null], []);
  }

  /** Cancels the request. */
  end(): void {
    if (!this.isOver) this.#wait(-1);
    this.isOver = true;
  }

  /** @param remote indexes of amounts granted by the store */
  #finish(granted: readonly (number | null)[], remote: readonly number[]): readonly OwnCell[] {
    if (this.isOver) return [];
    this.end();
    const all = granted.flatMap((amount) => (amount === null ? [] : [amount]));
    const isGranted = all.length === granted.length;
    this.#done(isGranted ? all : null);
    // The store does not know of local grants, nor of its own grants that were not used.
    return this.cells.filter((_, at) => remote.includes(at) !== isGranted);
  }

  /** Amount that this process grants locally; `null`: not enough is left. */
  #ownPart(at: number, room: number, nowMs: UnixMs): number | null {
    const [one, cell] = [this.#asked[at], this.cells[at]];
    if (!one || !cell) return null;
    const free = Math.max(0, room - (cell.count.counter.usedIn(one.slot, nowMs) - one.want));
    if (free < one.need) return null;
    return one.clips ? Math.min(one.want, free) : one.want;
  }

  #wait(sign: 1 | -1): void {
    for (const [at, cell] of this.cells.entries()) {
      const by = sign * (this.#asked[at]?.want ?? 0);
      cell.pending += by;
      cell.count.pending += by;
    }
  }
}
