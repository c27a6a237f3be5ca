// Creates counters for windows. Counters with the same calendar share it, so that each period is computed once.
import type { Counter } from './counter.ts';
import { PeriodCounter } from './period-counter.ts';
import { RollingCounter } from './rolling-counter.ts';
import { Calendar, type ClockStep, type Window } from './window.ts';

export class CounterMaker {
  readonly #calendars = new Map<string, Calendar>();
  readonly #step: ClockStep;
  readonly #isShared: boolean;

  /**
   * @param step correction of the machine's clock, read at each use
   * @param isShared true for counters shared between processes
   */
  constructor(step: ClockStep = { ms: 0 }, isShared = false) {
    this.#step = step;
    this.#isShared = isShared;
  }

  /** Creates an empty counter for a window. */
  make(window: Window): Counter {
    if (window.type === 'rolling') return new RollingCounter(window.ms, this.#isShared);
    return new PeriodCounter(this.calendarOf(window));
  }

  /** Calendar of a window; null: none. */
  calendarOf(window: Window): Calendar | null {
    if (window.type !== 'calendar') return null;
    const name = `${window.unit} ${window.timeZone}`;
    let calendar = this.#calendars.get(name);
    if (!calendar)
      this.#calendars.set(name, (calendar = new Calendar(window.unit, window.timeZone, this.#step)));
    return calendar;
  }
}
