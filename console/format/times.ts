// Formats times in the user's locale and time zone. Future times are "in 10 h", past ones "3 min ago".
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minutes = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** `14:03:59` today, `Nov 21 14:03:59` on other days. @param iso ISO 8601, as in the API */
export function shortTime(iso: string): string {
  const time = new Date(iso);
  return isToday(time) ? clock.format(time) : `${day.format(time)} ${clock.format(time)}`;
}

/** `14:03` today, `Nov 21 14:03` on other days. */
export function clockTime(at: string | number): string {
  const time = new Date(at);
  return isToday(time) ? minutes.format(time) : `${day.format(time)} ${minutes.format(time)}`;
}

/** Date, time and zone. */
export function fullTime(iso: string): string {
  return full.format(new Date(iso));
}

function isToday(time: Date): boolean {
  return time.toDateString() === new Date().toDateString();
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** `10 h`: the largest unit that fits, in whole numbers. @param ms milliseconds */
function span(ms: number): string {
  const size = Math.abs(ms);
  const [unit, step] = STEPS.find(([name, each]) => size >= (name === 'd' ? 2 * each : each)) ?? STEPS[3];
  return `${Math.floor(size / step)} ${unit}`;
}

/** `3 min ago`. `now` for less than a second ago, or slightly in the future because of clock skew. */
export function ago(iso: string, now = Date.now()): string {
  const ms = now - Date.parse(iso);
  return ms < 1_000 ? 'now' : `${span(ms)} ago`;
}

/**
 * `in 10 h`, rounded to the nearest unit; `in 1 h 40 min` for less than two hours. `now` for a time that has passed since,
 * instead of "in −3 min".
 */
export function ahead(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso) - now;
  if (ms < 1_000) return 'now';
  const minutesLeft = Math.round(ms / 60_000);
  if (minutesLeft < 2) return `in ${Math.round(ms / 1_000)} s`;
  if (minutesLeft < 60) return `in ${minutesLeft} min`;
  if (minutesLeft < 120) return minutesLeft === 60 ? 'in 1 h' : `in 1 h ${minutesLeft - 60} min`;
  const hoursLeft = Math.round(minutesLeft / 60);
  return hoursLeft < 48 ? `in ${hoursLeft} h` : `in ${Math.round(hoursLeft / 24)} d`;
}

/** `since 14:09 (3 min)` */
export function since(iso: string, now = Date.now()): string {
  const ms = now - Date.parse(iso);
  return `since ${clockTime(iso)}${ms < 60_000 ? '' : ` (${span(ms)})`}`;
}
