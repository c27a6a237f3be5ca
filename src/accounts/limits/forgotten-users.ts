// Estimates the usage of evicted end users in fixed memory. Estimates are never too low, but a user that shares all cells
// with a heavier one gets its usage.
import type { Calendar, Window } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

/** Cells per row; four rows take 2 MB. */
const CELLS = 65_536;
const ROWS = 4;
/** Time spans that are kept: a rolling window covers the current one and part of the previous one. */
const SPANS = 2;

interface Span {
  readonly startMs: UnixMs;
  readonly endMs: UnixMs;
  readonly cells: Float64Array;
}

/** Evicted users of one limit, or of several that measure the same in the same window. */
export class ForgottenUsers {
  readonly #window: Window;
  readonly #calendar: Calendar | null;
  readonly #spans: Span[] = [];

  /** @param calendar calendar of the window; null: none */
  constructor(window: Window, calendar: Calendar | null) {
    this.#window = window;
    this.#calendar = calendar;
  }

  /** Adds a user's usage. @param lastMs time of the user's last request */
  remember(user: string, used: number, lastMs: UnixMs): void {
    const { cells } = this.#spanOf(lastMs);
    // A cell holds the maximum of its users, not their sum, so that a returning user is not counted twice.
    forEachCell(user, (cell) => {
      if (used > (cells[cell] ?? 0)) cells[cell] = used;
    });
  }

  /** Upper bounds of a user's usage and of its last time; 0: none. */
  recall(user: string, nowMs: UnixMs): { readonly used: number; readonly atMs: UnixMs } {
    let used = 0;
    let atMs = 0;
    for (const span of this.#spans) {
      if (!this.#reaches(span, nowMs)) continue;
      let least = Infinity;
      forEachCell(user, (cell) => (least = Math.min(least, span.cells[cell] ?? 0)));
      if (least <= used) continue;
      used = least;
      atMs = Math.min(nowMs, span.endMs);
    }
    return { used, atMs };
  }

  #reaches(span: Span, nowMs: UnixMs): boolean {
    return this.#window.type === 'rolling' ? nowMs < span.endMs + this.#window.ms : nowMs < span.endMs;
  }

  #spanOf(ms: number): Span {
    const { startMs, endMs } = this.#edges(ms);
    const known = this.#spans.find((span) => span.startMs === startMs);
    if (known) return known;
    const [oldest] = this.#spans;
    // If the clock was set back, the newer span is kept, because it counts as well.
    if (oldest && this.#spans.length === SPANS && startMs < oldest.startMs) return oldest;
    const span = { startMs, endMs, cells: new Float64Array(CELLS * ROWS) };
    this.#spans.push(span);
    this.#spans.sort((a, b) => a.startMs - b.startMs);
    if (this.#spans.length > SPANS) this.#spans.shift();
    return span;
  }

  #edges(ms: number): { readonly startMs: UnixMs; readonly endMs: UnixMs } {
    if (this.#window.type === 'rolling') {
      const startMs = ms - (ms % this.#window.ms);
      return { startMs, endMs: startMs + this.#window.ms };
    }
    if (!this.#calendar) return { startMs: 0, endMs: Infinity };
    return { startMs: this.#calendar.startOf(ms), endMs: this.#calendar.endOf(ms) };
  }
}

/** Calls `each` with one cell per row (FNV-1a, then double hashing). */
function forEachCell(user: string, each: (cell: number) => void): void {
  let hash = 0x811c9dc5;
  for (let at = 0; at < user.length; at += 1) hash = Math.imul(hash ^ user.charCodeAt(at), 0x01000193);
  const step = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 1;
  for (let row = 0; row < ROWS; row += 1) {
    const mixed = Math.imul(hash + row * step, 0x9e3779b1) >>> 16;
    each(row * CELLS + mixed);
  }
}
