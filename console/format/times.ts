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

/**
 * `10 h`: rounded to the nearest unit, for future and past alike. Small numbers have a finer unit: `89 s`, `1 h 40 min`,
 * `47 h`. So the text is never off by more than a third. @param ms milliseconds, at least 0
 */
function span(ms: number): string {
  const minutesIn = Math.round(ms / 60_000);
  if (minutesIn < 2) return `${Math.round(ms / 1_000)} s`;
  if (minutesIn < 60) return `${minutesIn} min`;
  if (minutesIn < 120) return minutesIn === 60 ? '1 h' : `1 h ${minutesIn - 60} min`;
  const hoursIn = Math.round(minutesIn / 60);
  return hoursIn < 48 ? `${hoursIn} h` : `${Math.round(hoursIn / 24)} d`;
}

/** `3 min ago`. `now` for less than a second ago, or slightly in the future because of clock skew. */
export function ago(iso: string, now = Date.now()): string {
  const ms = now - Date.parse(iso);
  return ms < 1_000 ? 'now' : `${span(ms)} ago`;
}

/** `in 10 h`. `now` for a time that has passed since, instead of "in −3 min". */
export function ahead(iso: string, now = Date.now()): string {
  const ms = Date.parse(iso) - now;
  return ms < 1_000 ? 'now' : `in ${span(ms)}`;
}

/** `since 14:09 (3 min)` */
export function since(iso: string, now = Date.now()): string {
  const ms = now - Date.parse(iso);
  return `since ${clockTime(iso)}${ms < 60_000 ? '' : ` (${span(ms)})`}`;
}
