// Times in the zone of who looks.
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `14:03:59` today, `Nov 21 14:03:59` on other days. @param iso as the API tells times */
export function shortTime(iso: string): string {
  const time = new Date(iso);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? clock.format(time) : `${day.format(time)} ${clock.format(time)}`;
}

/** Date, time and zone. */
export function fullTime(iso: string): string {
  return full.format(new Date(iso));
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

/** `3 minutes ago`, `in 2 hours` */
export function ago(iso: string): string {
  const ms = Date.parse(iso) - Date.now();
  const [unit, size] = STEPS.find(([, step]) => Math.abs(ms) >= step) ?? (['second', 1_000] as const);
  return relative.format(Math.round(ms / size), unit);
}
