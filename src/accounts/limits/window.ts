// Time windows of limits, and the boundaries of calendar periods. The current time is always an argument.
import type { UnixMs } from '../../base/units.ts';

const CALENDAR_UNITS = ['day', 'week', 'month'] as const;
type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/**
 * `rolling`: usage within the last `ms` milliseconds. Rates per second, minute or hour are rolling, too, so that no span of
 * that length exceeds the limit.
 */
export type Window =
  | { readonly type: 'rolling'; readonly ms: number }
  | { readonly type: 'calendar'; readonly unit: CalendarUnit; readonly timeZone: string }
  | { readonly type: 'lifetime' };

export const lifetime: Window = { type: 'lifetime' };

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const RATES: ReadonlyMap<string, number> = new Map([
  ['second', SECOND],
  ['minute', 60 * SECOND],
  ['hour', HOUR],
]);
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', SECOND],
  ['m', 60 * SECOND],
  ['h', HOUR],
  ['d', DAY],
]);
const LONGEST_ROLLING = 366 * DAY;

/**
 * Parses `per` and `timezone`.
 * @throws RangeError with a message for the user
 */
export function parseWindow(per: string | undefined, timeZone: string | undefined): Window {
  const unit = CALENDAR_UNITS.find((name) => name === per);
  if (unit) return { type: 'calendar', unit, timeZone: knownTimeZone(timeZone ?? 'UTC') };
  if (timeZone !== undefined) throw new RangeError('`timezone` requires `per: day`, `week` or `month`');
  if (per === undefined) return lifetime;
  const rate = RATES.get(per);
  if (rate !== undefined) return { type: 'rolling', ms: rate };
  const [, count = '', letter = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(per) ?? [];
  const ms = Number(count) * (UNITS.get(letter) ?? 0);
  if (ms === 0 || ms > LONGEST_ROLLING)
    throw new RangeError(
      '`per` must be second, minute, hour, day, week, month, or a duration up to 366d such as "5h"',
    );
  return { type: 'rolling', ms };
}

function knownTimeZone(name: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    throw new RangeError(`"${name}" is not a time zone; use a name such as Europe/Berlin`);
  }
}

/** Milliseconds by which the machine's clock was set since the start: Unix time minus monotonic time. */
export interface ClockStep {
  readonly ms: number;
}

const NO_STEP: ClockStep = { ms: 0 };

/** Boundaries of the periods of one unit in one time zone. Caches the last period. */
export class Calendar {
  readonly #unit: CalendarUnit;
  readonly #timeZone: string;
  readonly #step: ClockStep;
  /** Unix milliseconds. */
  #start = 0;
  #end = 0;

  constructor(unit: CalendarUnit, timeZone: string, step: ClockStep = NO_STEP) {
    this.#unit = unit;
    this.#timeZone = timeZone;
    this.#step = step;
  }

  /** Start of the current period in Unix milliseconds. @param nowMs monotonic time */
  startOf(nowMs: UnixMs): number {
    const atMs = nowMs + this.#step.ms;
    if (atMs < this.#start || atMs >= this.#end) this.#find(atMs);
    return this.#start;
  }

  /** Start of the next period as a monotonic time. @param nowMs monotonic time */
  endOf(nowMs: UnixMs): number {
    this.startOf(nowMs);
    return this.#end - this.#step.ms;
  }

  #find(nowMs: UnixMs): void {
    const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(nowMs))
      .toZonedDateTimeISO(this.#timeZone)
      .toPlainDate();
    const first = firstDay(today, this.#unit);
    // A day begins at its first moment, which is not midnight if clocks are put forward at that time.
    this.#start = first.toZonedDateTime(this.#timeZone).epochMilliseconds;
    this.#end = first.add({ [`${this.#unit}s`]: 1 }).toZonedDateTime(this.#timeZone).epochMilliseconds;
  }
}

/** Weeks begin on Monday (ISO 8601). */
function firstDay(date: Temporal.PlainDate, unit: CalendarUnit): Temporal.PlainDate {
  if (unit === 'month') return date.with({ day: 1 });
  return unit === 'week' ? date.subtract({ days: date.dayOfWeek - 1 }) : date;
}
