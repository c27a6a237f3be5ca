// Estimates of what evicted end users had used, in fixed memory and never too low. A user who shares all cells with a
// heavier one is taken for as heavy: that errs towards refusing.
import type { Calendar, Window } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

/** Cells of a row; four rows of them are 2 MB. */
const CELLS = 65_536;
const ROWS = 4;
/** Spans of time that are remembered: a rolling window reaches from the current one into the one before. */
const SPANS = 2;

interface Span {
  readonly startMs: UnixMs;
  readonly endMs: UnixMs;
  readonly cells: Float64Array;
}

/** The forgotten users of a limit, or of several that count the same thing in the same window. */
export class ForgottenUsers {
  readonly #window: Window;
  readonly #calendar: Calendar | null;
  readonly #spans: Span[] = [];

  /** @param calendar that of the window, if it has one */
  constructor(window: Window, calendar: Calendar | null) {
    this.#window = window;
    this.#calendar = calendar;
  }

  /** @param lastMs when the user used something for the last time */
  remember(user: string, used: number, lastMs: UnixMs): void {
    const { cells } = this.#spanOf(lastMs);
    // The largest amount of all who share a cell, not their sum: a user who comes and goes is not counted twice.
    forEachCell(user, (cell) => {
      if (used > (cells[cell] ?? 0)) cells[cell] = used;
    });
  }

  /** Upper bounds of a user's amount and of its last time; 0: no user was evicted. */
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
    // A clock that was set back does not push out what is newer: that counts as well.
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

/** Calls with one cell of each row (FNV-1a, then double hashing). */
function forEachCell(user: string, each: (cell: number) => void): void {
  let hash = 0x811c9dc5;
  for (let at = 0; at < user.length; at += 1) hash = Math.imul(hash ^ user.charCodeAt(at), 0x01000193);
  const step = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 1;
  for (let row = 0; row < ROWS; row += 1) {
    const mixed = Math.imul(hash + row * step, 0x9e3779b1) >>> 16;
    each(row * CELLS + mixed);
  }
}
