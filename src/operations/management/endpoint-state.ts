// State of an endpoint, derived from its latest attempts. The first matching rule wins.
import { type EndpointHealth, isOnlyLimited } from '../../engine/routing/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Worst first. */
export const ENDPOINT_STATES = [
  'failing',
  'recovering',
  'degraded',
  'disabled',
  'healthy',
  'no_traffic',
] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

const DAY_MS = 24 * 3_600_000;
/** Share of good attempts below which an endpoint is degraded, and minimum number of attempts for that. */
const GOOD_SHARE = 0.95;
const ENOUGH = 20;
/** With fewer attempts, the last one decides. */
const FEW = 5;
/** Multiple of the usual time from which an endpoint is slow. */
const SLOW = 3;

/** Attempts of the last 24 hours, from the sums, which survive restarts. */
export interface DayAttempts {
  readonly attempts: number;
  readonly failedAttempts: number;
}

/** The last 24 hours of an endpoint. */
export interface EndpointDay extends DayAttempts {
  /** 95th percentile in milliseconds. Null: unknown. */
  readonly firstContentMs: DurationMs | null;
}

/** Times are monotonic milliseconds. */
export interface StateOfEndpoint {
  readonly state: EndpointState;
  /** Null: unknown, or no problem. */
  readonly sinceMs: UnixMs | null;
  /** End of the disabled period. Null: not disabled. */
  readonly untilMs: UnixMs | null;
  /** Reason why it was disabled. */
  readonly reason: string | null;
  /** End of the last attempt, if there was none within the last 15 minutes. */
  readonly asOfMs: UnixMs | null;
  readonly attempts: number;
  readonly good: number;
  readonly bad: number;
  readonly limited: number;
  readonly lastAttemptMs: UnixMs | null;
}

/** @param day undefined: no requests within 24 hours */
export function endpointState(
  health: EndpointHealth | null,
  nowMs: UnixMs,
  day: EndpointDay | undefined,
): StateOfEndpoint {
  if (!health)
    return {
      state: stateBySums(day),
      sinceMs: null,
      untilMs: null,
      reason: null,
      asOfMs: null,
      attempts: 0,
      good: 0,
      bad: 0,
      limited: 0,
      lastAttemptMs: null,
    };
  const { recent } = health;
  const { attempts, good, bad, limited, asOfMs, lastWasBad } = recent.window(nowMs);
  const disabled = health.disabled(nowMs);
  const { badSince: sinceMs, lastAt: lastAttemptMs } = recent;
  const counted = { asOfMs, attempts, good, bad, limited, lastAttemptMs };
  if (disabled)
    return { ...counted, state: 'disabled', sinceMs: null, untilMs: disabled.until, reason: disabled.reason };
  const state = ((): EndpointState => {
    const breaker = health.breaker(nowMs).state;
    const isLimited = isOnlyLimited(health, nowMs);
    if (breaker === 'half-open' && !isLimited) return 'recovering';
    const isForgotten = lastAttemptMs === null || lastAttemptMs < nowMs - DAY_MS;
    if ((breaker === 'open' && !isLimited) || (recent.isFailing && !isForgotten)) return 'failing';
    if (isForgotten) return stateBySums(day);
    const isPoor = attempts >= ENOUGH && good / attempts < GOOD_SHARE;
    const isSlow = asOfMs === null && isAbove(health.p95Ms(true), day?.firstContentMs);
    return isLimited || isPoor || isSlow || (attempts < FEW && lastWasBad) ? 'degraded' : 'healthy';
  })();
  const isHealthy = state === 'healthy' || state === 'no_traffic';
  return { ...counted, state, sinceMs: isHealthy ? null : sinceMs, untilMs: null, reason: null };
}

/** State from sums alone, which do not tell whose fault a failure was. */
export function stateBySums(day: DayAttempts | undefined): EndpointState {
  if (!day || day.attempts === 0) return 'no_traffic';
  const { attempts, failedAttempts: failed } = day;
  const isPoor = attempts >= ENOUGH && failed / attempts > 1 - GOOD_SHARE;
  return isPoor || failed === attempts ? 'degraded' : 'healthy';
}

function isAbove(ms: number | null, usualMs: DurationMs | null | undefined): boolean {
  return ms !== null && usualMs !== null && usualMs !== undefined && ms > SLOW * usualMs;
}

/** The worst state; undefined for an empty list. */
export function worstOf<T extends { readonly state: EndpointState }>(all: readonly T[]): T | undefined {
  return all.toSorted((a, b) => ENDPOINT_STATES.indexOf(a.state) - ENDPOINT_STATES.indexOf(b.state))[0];
}
