// Makes counters, each of the kind that its window needs. Those of one calendar share it, so that a period is looked up once.
import type { Counter } from './counter.ts';
import { PeriodCounter } from './period-counter.ts';
import { RollingCounter } from './rolling-counter.ts';
import { Calendar, type ClockStep, type Window } from './window.ts';

export class CounterMaker {
  readonly #calendars = new Map<string, Calendar>();
  readonly #step: ClockStep;
  readonly #isShared: boolean;

  /** @param step as it is when a calendar is asked @param isShared true for counters that processes share */
  constructor(step: ClockStep = { ms: 0 }, isShared = false) {
    this.#step = step;
    this.#isShared = isShared;
  }

  /** An empty counter for a window. */
  make(window: Window): Counter {
    if (window.type === 'rolling') return new RollingCounter(window.ms, this.#isShared);
    return new PeriodCounter(this.calendarOf(window));
  }

  /** The calendar of a window; null where it has none. */
  calendarOf(window: Window): Calendar | null {
    if (window.type !== 'calendar') return null;
    const name = `${window.unit} ${window.timeZone}`;
    let calendar = this.#calendars.get(name);
    if (!calendar)
      this.#calendars.set(name, (calendar = new Calendar(window.unit, window.timeZone, this.#step)));
    return calendar;
  }
}
