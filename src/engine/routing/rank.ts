// Puts the endpoints of one model in order by a factor. Unknown endpoints are explored, one request at a time, and
// known ones are measured again now and then, so that one that recovered is found.
import type { Factor, Measured } from './factors/index.ts';

export interface Ranked {
  readonly subject: Measured;
  /** From 0 to 1: its value over the best; null when unknown. */
  readonly score: number | null;
  readonly reason: string;
}

/** A known endpoint is measured again after standing behind others in so many plans… */
const DUE_AFTER_PLANS = 20;
/** …and for so long. Together they bound what exploring costs: 5 % of few requests, one in 5 s of many. */
const DUE_AFTER_MS = 5_000;
/** Below this share of good attempts an endpoint is not explored at once, although its speed is unknown. */
const DOUBTFUL = 0.5;
/** Values within this ratio are equal: then the endpoint with less to do goes first. */
const EQUAL = Math.log(1.1);

/** Orders by `factor`, best first; equals keep the order in which they were given. */
export function rankBy(factor: Factor, subjects: readonly Measured[]): readonly Ranked[] {
  let best = 0;
  const values = subjects.map((subject) => {
    const value = factor.value(subject);
    if (value !== null && value > best) best = value;
    return value;
  });
  const ranked: { entry: Ranked; value: number | null; load: number }[] = subjects.map((subject, index) => {
    const value = values[index] ?? null;
    const score = value === null ? null : best === 0 ? 1 : value / best;
    return {
      entry: { subject, score, reason: `${factor.name}: ${factor.describe(subject)}` },
      value: value === null ? null : factor.measured ? Math.round(Math.log(value) / EQUAL) : value,
      load: factor.measured ? subject.health.inFlight : 0,
    };
  });
  ranked.sort((a, b) => {
    if (a.value === null || b.value === null)
      return a.value === b.value ? a.load - b.load : a.value === null ? 1 : -1;
    return b.value - a.value || a.load - b.load;
  });
  const ordered = ranked.map(({ entry }) => entry);
  if (!factor.measured) return ordered;
  const explored = ordered.findIndex((entry, position) => isDue(entry, position));
  if (explored <= 0) return ordered;
  const [first] = ordered.splice(explored, 1);
  if (first) ordered.unshift({ ...first, reason: `${first.reason}; measured now` });
  return ordered;
}

/** True for an endpoint of which too little is known, and that nobody is measuring at the moment. */
function isDue({ subject, score }: Ranked, position: number): boolean {
  const { health, nowMs } = subject;
  if (health.inFlight > 0) return false;
  if (score === null && (health.successRate(nowMs) ?? 1) >= DOUBTFUL) return true;
  if (position === 0 || health.passedOver < DUE_AFTER_PLANS) return false;
  return nowMs - (health.measuredAt ?? 0) >= DUE_AFTER_MS;
}
