// One request that waits for the store: what it wants of which counters. While it waits, its reservations are kept apart from
// what this process reports.
import type { Asked, Wanted } from '../../accounts/limits/index.ts';
import type { OwnCell, SharedCount } from './shared-count.ts';
import type { UnixMs } from '../../base/units.ts';

export class Question {
  readonly cells: readonly OwnCell[];
  /** Milliseconds that only go forward until which it waits. */
  untilMs: number;
  /** True once it is answered, or taken back. */
  isOver = false;
  /** Indexes of the amounts that the store was asked for. */
  #remote: readonly number[] = [];
  readonly #asked: readonly Asked[];
  readonly #done: (granted: readonly number[] | null) => void;

  constructor(
    asked: readonly Asked[],
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

  /** True where the store cannot answer for any of it. */
  get isBlind(): boolean {
    return this.cells.every(({ count }) => count.isBlind);
  }

  /** Amounts that the store is asked for now. The others are decided here. */
  wanted(): readonly Wanted[] {
    this.#remote = [...this.cells.keys()].filter((at) => !this.cells[at]?.count.isBlind);
    return this.#remote.flatMap((index) => {
      const [one, cell] = [this.#asked[index], this.cells[index]];
      if (!one || !cell) return [];
      const { need, want, clips } = one;
      return [{ at: cell.at, limit: cell.count.limit.rule.amount, need, want, clips }];
    });
  }

  /** Cell and needed amount behind one of the amounts that the store was asked for. */
  remote(index: number): { readonly cell: OwnCell | undefined; readonly need: number } {
    const at = this.#remote[index] ?? 0;
    return { cell: this.cells[at], need: this.#asked[at]?.need ?? 0 };
  }

  /**
   * Decides without the store.
   * @param roomOf up to where a counter may go
   * @returns cells of which the store must hear
   */
  decide(nowMs: UnixMs, roomOf: (count: SharedCount) => number): readonly OwnCell[] {
    const own = this.cells.map((cell, at) => this.#ownPart(at, roomOf(cell.count), nowMs));
    return this.#finish(own, []);
  }

  /** Takes what the store has granted. @returns cells of which the store must hear */
  grant(granted: readonly number[], nowMs: UnixMs): readonly OwnCell[] {
    if (this.isOver) return this.cells;
    const all = this.cells.map(({ count }, at) => {
      const index = this.#remote.indexOf(at);
      return index < 0 ? this.#ownPart(at, count.room(), nowMs) : (granted[index] ?? null);
    });
    return this.#finish(all, this.#remote);
  }

  /** It gets nothing. */
  refuse(): void {
    this.#finish([null], []);
  }

  /** Takes it back. */
  end(): void {
    if (!this.isOver) this.#wait(-1);
    this.isOver = true;
  }

  /** @param remote indexes of amounts that the store has granted */
  #finish(granted: readonly (number | null)[], remote: readonly number[]): readonly OwnCell[] {
    if (this.isOver) return [];
    this.end();
    const all = granted.flatMap((amount) => (amount === null ? [] : [amount]));
    const isGranted = all.length === granted.length;
    this.#done(isGranted ? all : null);
    // The store does not know what was granted here, nor that something of its own was not taken.
    return this.cells.filter((_, at) => remote.includes(at) !== isGranted);
  }

  /** Amount that this process grants itself; `null`: not so much is left. */
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
