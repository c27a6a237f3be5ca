// Orders the endpoints of one model by a factor. Endpoints without measurements are explored one request at a time, and
// others are measured again periodically to detect recovery.
import type { Factor, Measured } from './factors/index.ts';

export interface Ranked {
  readonly subject: Measured;
  /** From 0 to 1: its value divided by the best. Null: unknown. */
  readonly score: number | null;
  readonly reason: string;
}

/** Plans in which an endpoint was not first before it is measured again… */
const DUE_AFTER_PLANS = 20;
/** …and the minimum time. Together they bound the cost of exploring: 5 % of few requests, one per 5 s of many. */
const DUE_AFTER_MS = 5_000;
/** Success rate below which an endpoint without measurements is not explored immediately. */
const LOW_SUCCESS_RATE = 0.5;
/** Values within this ratio are equal; then the endpoint with less load comes first. */
const EQUAL = Math.log(1.1);

/** Orders by `factor`, best first; equals keep the given order. */
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
  if (first) ordered.unshift({ ...first, reason: `${first.reason}, sent to measure it` });
  return ordered;
}

/** True for an endpoint with outdated or missing measurements that no request is measuring now. */
function isDue({ subject, score }: Ranked, position: number): boolean {
  const { health, nowMs } = subject;
  if (health.inFlight > 0) return false;
  if (score === null && (health.successRate(nowMs) ?? 1) >= LOW_SUCCESS_RATE) return true;
  if (position === 0 || health.skippedPlans < DUE_AFTER_PLANS) return false;
  return nowMs - (health.measuredAt ?? 0) >= DUE_AFTER_MS;
}
