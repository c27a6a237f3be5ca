// Time range of the monitoring pages, as part of their addresses. Days are those of the gateway's time zone, like
// those of its sums.

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Ranges that end now. */
const LAST = {
  '1h': { label: 'Last hour', ms: HOUR_MS },
  '6h': { label: 'Last 6 h', ms: 6 * HOUR_MS },
  '24h': { label: 'Last 24 h', ms: DAY_MS },
  '7d': { label: 'Last 7 days', ms: 7 * DAY_MS },
  '30d': { label: 'Last 30 days', ms: 30 * DAY_MS },
  '90d': { label: 'Last 90 days', ms: 90 * DAY_MS },
} as const;

/** Ranges of calendar days. */
const DAYS = {
  today: 'Today',
  yesterday: 'Yesterday',
  month: 'This month',
  'last-month': 'Last month',
} as const;

type Last = keyof typeof LAST;
type Days = keyof typeof DAYS;
export type RangeId = Last | Days;

export const RANGES: readonly (readonly [id: RangeId, label: string])[] = [
  ...(Object.keys(LAST) as Last[]).map((id) => [id, LAST[id].label] as const),
  ...(Object.keys(DAYS) as Days[]).map((id) => [id, DAYS[id]] as const),
];
export const USUAL: RangeId = '24h';

/** Range in query parameters: either a name, or two times. */
export interface RangeSearch {
  readonly range?: RangeId;
  /** ISO 8601. Used together with `to` if there is no name. */
  readonly from?: string;
  readonly to?: string;
}

export function readRange(search: Readonly<Record<string, unknown>>): RangeSearch {
  const [from, to] = [timeIn(search['from']), timeIn(search['to'])];
  if (from !== null && to !== null && from < to) return { from, to };
  const known = RANGES.find(([id]) => id === search['range']);
  return known && known[0] !== USUAL ? { range: known[0] } : {};
}

function timeIn(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

type Interval = '5m' | '30m' | 'hour' | '6h' | 'day';

const STEPS: Readonly<Record<Interval, number>> = {
  '5m': 5 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  hour: HOUR_MS,
  '6h': 6 * HOUR_MS,
  day: DAY_MS,
};

/** A range for queries. Times are Unix milliseconds. */
export interface Span {
  readonly from: number;
  /** End, exclusive; null: now. */
  readonly to: number | null;
  readonly interval: Interval;
  /** Number of intervals that one bar covers. */
  readonly merged: number;
  readonly label: string;
}

/** Retention of sums by minutes. */
const MINUTES_KEPT_MS = 48 * HOUR_MS;
const MOST_BARS = 72;

/**
 * @param nowMs Unix milliseconds, rounded, because query keys contain it
 * @param zone time zone of the gateway, like `Europe/Vienna`
 */
export function spanOf({ range = USUAL, from, to }: RangeSearch, nowMs: number, zone: string): Span {
  if (from !== undefined && to !== undefined) {
    const own = { from: Date.parse(from), to: Date.parse(to) };
    return { ...own, ...barsOf(own.from, own.to, nowMs), label: ownLabel(own.from, own.to, zone) };
  }
  if (range in LAST) {
    const { ms, label } = LAST[range as Last];
    const bars = barsOf(nowMs - ms, nowMs, nowMs);
    const step = STEPS[bars.interval];
    // Rounded up, because sums cover whole intervals.
    return { from: Math.ceil((nowMs - ms) / step) * step, to: null, ...bars, label };
  }
  const [first, end] = daysOf(range as Days, nowMs, zone);
  return { from: first, to: end, ...barsOf(first, end ?? nowMs, nowMs), label: DAYS[range as Days] };
}

/** Interval that results in at most about 72 bars. */
function barsOf(from: number, to: number, nowMs: number): Pick<Span, 'interval' | 'merged'> {
  const length = to - from;
  const isRecent = nowMs - from <= MINUTES_KEPT_MS;
  const fine = length <= 6 * HOUR_MS ? '5m' : length <= 36 * HOUR_MS ? '30m' : 'hour';
  if (isRecent) return { interval: fine, merged: 1 };
  if (length <= 3 * DAY_MS) return { interval: 'hour', merged: 1 };
  if (length <= 15 * DAY_MS) return { interval: '6h', merged: 1 };
  return { interval: 'day', merged: Math.ceil(length / DAY_MS / MOST_BARS) };
}

function daysOf(range: Days, nowMs: number, zone: string): readonly [number, number | null] {
  const [year, month, day] = dateIn(nowMs, zone);
  switch (range) {
    case 'today':
      return [midnight(year, month, day, zone), null];
    case 'yesterday':
      return [midnight(year, month, day - 1, zone), midnight(year, month, day, zone)];
    case 'month':
      return [midnight(year, month, 1, zone), null];
    case 'last-month':
      return [midnight(year, month - 1, 1, zone), midnight(year, month, 1, zone)];
  }
}

/** Year, month (from 1) and day of a timestamp in a zone. */
export function dateIn(ms: number, zone: string): readonly [number, number, number] {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms);
  const [year = 0, month = 0, day = 0] = parts.split('-').map(Number);
  return [year, month, day];
}

/** Start of a day in a zone, in Unix milliseconds. Day and month may overflow, as in `Date.UTC`. */
export function midnight(year: number, month: number, day: number, zone: string): number {
  const there = Date.UTC(year, month - 1, day);
  // Applied twice, because the first guess can lie on the other side of a clock change.
  return there - offsetAt(there - offsetAt(there, zone), zone);
}

/** Offset of a zone from UTC, in milliseconds. */
function offsetAt(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const shown = Date.UTC(
    parts['year'] ?? 0,
    (parts['month'] ?? 1) - 1,
    parts['day'],
    parts['hour'],
    parts['minute'],
    parts['second'],
  );
  return shown - Math.floor(ms / 1_000) * 1_000;
}

function ownLabel(from: number, to: number, zone: string): string {
  const isDays = [from, to].every((ms) => midnight(...dateIn(ms, zone), zone) === ms);
  const day = new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    timeZone: isDays ? zone : undefined,
  });
  const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
  if (isDays) {
    const [first, last] = [day.format(from), day.format(to - 1)];
    return first === last ? first : `${first} – ${last}`;
  }
  const end = to - from > 20 * HOUR_MS ? `${day.format(to)} ${time.format(to)}` : time.format(to);
  return `${day.format(from)} ${time.format(from)} – ${end}`;
}

/** Buckets of a range. */
export interface Grid {
  /** Start times, in Unix seconds. */
  readonly times: readonly number[];
  /** Length of a bucket, in seconds. */
  readonly step: number;
  /** Index of a row's bucket; -1: none. @param start ISO 8601 */
  readonly placeOf: (start: string | null) => number;
}

export function gridOf({ from, to, interval, merged }: Span, nowMs: number, zone: string): Grid {
  const step = STEPS[interval];
  const isByDay = interval === 'day' || interval === '6h';
  const first = isByDay
    ? midnight(...dateIn(from, zone), zone) +
      (interval === '6h' ? Math.floor((from - midnight(...dateIn(from, zone), zone)) / step) * step : 0)
    : Math.floor(from / step) * step;
  // The interval that has just begun counts too, because totals of a range without an end contain it.
  const number = to === null ? Math.floor((nowMs - first) / step) + 1 : Math.ceil((to - first) / step);
  const bars = Math.max(1, Math.ceil(number / merged));
  const places = Array.from({ length: bars }, (_, at) => (first + at * merged * step) / 1_000);
  return {
    times: places,
    step: (merged * step) / 1_000,
    placeOf: (start) => {
      // Days with a clock change are an hour longer or shorter.
      const at = Math.floor(Math.round((Date.parse(start ?? '') - first) / (step / 4)) / 4 / merged);
      return at >= 0 && at < bars ? at : -1;
    },
  };
}
