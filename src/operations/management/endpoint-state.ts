// The state of an endpoint in one word, by the latest attempts at it. The first rule that matches, from the top, wins.
import type { EndpointHealth } from '../../engine/routing/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** The worst first. */
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
/** Good of all below which an endpoint is degraded, and how many attempts that takes. */
const GOOD_SHARE = 0.95;
const ENOUGH = 20;
/** Fewer attempts are judged by the last one. */
const FEW = 5;
/** Times its usual time from which on it is slow. */
const SLOW = 3;

/** Attempts of the last 24 hours, by the sums, which outlive a process. */
export interface DayAttempts {
  readonly attempts: number;
  readonly failedAttempts: number;
}

/** An endpoint's last 24 hours. */
export interface EndpointDay extends DayAttempts {
  /** Time that 95 % of its requests did not exceed, in milliseconds. Null: unknown. */
  readonly firstContentMs: DurationMs | null;
}

/** Times are milliseconds that only go forward. */
export interface StateOfEndpoint {
  readonly state: EndpointState;
  /** Null: unknown, or nothing is wrong. */
  readonly sinceMs: UnixMs | null;
  /** End of the time for which it is disabled. Null: it is not. */
  readonly untilMs: UnixMs | null;
  /** Why it was disabled. */
  readonly reason: string | null;
  /** When the last attempt ended, where the last 15 minutes had none. */
  readonly asOfMs: UnixMs | null;
  readonly attempts: number;
  readonly good: number;
  readonly bad: number;
  readonly limited: number;
  readonly lastAttemptMs: UnixMs | null;
}

/** @param day undefined: no request of 24 hours was made there */
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
    // The breaker may have opened by rate limits alone, which are no failures here.
    const isLimited = breaker !== 'closed' && sinceMs === null;
    if (breaker === 'half-open' && !isLimited) return 'recovering';
    const isForgotten = lastAttemptMs === null || lastAttemptMs < nowMs - DAY_MS;
    if ((breaker === 'open' && !isLimited) || (recent.isFailing && !isForgotten)) return 'failing';
    if (isForgotten) return stateBySums(day);
    const isPoor = attempts >= ENOUGH && good / attempts < GOOD_SHARE;
    const isSlow = asOfMs === null && isAbove(health.p95Ms(true), day?.firstContentMs);
    return isLimited || isPoor || isSlow || (attempts < FEW && lastWasBad) ? 'degraded' : 'healthy';
  })();
  const isWell = state === 'healthy' || state === 'no_traffic';
  return { ...counted, state, sinceMs: isWell ? null : sinceMs, untilMs: null, reason: null };
}

/** State by sums alone, of attempts that nothing remembers one by one: whose faults they were is not known. */
export function stateBySums(day: DayAttempts | undefined): EndpointState {
  if (!day || day.attempts === 0) return 'no_traffic';
  const { attempts, failedAttempts: failed } = day;
  const isPoor = attempts >= ENOUGH && failed / attempts > 1 - GOOD_SHARE;
  return isPoor || failed === attempts ? 'degraded' : 'healthy';
}

function isAbove(ms: number | null, usualMs: DurationMs | null | undefined): boolean {
  return ms !== null && usualMs !== null && usualMs !== undefined && ms > SLOW * usualMs;
}

/** The worst of some states. No states: no traffic. */
export function worstOf<T extends { readonly state: EndpointState }>(all: readonly T[]): T | undefined {
  return all.toSorted((a, b) => ENDPOINT_STATES.indexOf(a.state) - ENDPOINT_STATES.indexOf(b.state))[0];
}
