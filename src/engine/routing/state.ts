// Port for routing state between requests: health of endpoints, round-robin turns and cached prefixes. It is
// synchronous, so implementations that share state with other processes use a local copy and synchronise in the
// background.
import type { ErrorKind, LimitNotice, Usage } from '../../canonical/index.ts';
import type { PastAttempt, RecentAttempts } from './recent-attempts.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Identifies an endpoint across reloads of the configuration. Every `Endpoint` is one. */
export interface EndpointId {
  readonly modelId: string;
  readonly slug: string;
}

/**
 * `closed`: healthy. `open`: avoided until `until`. `half-open`: one request at a time tests it; `until` is in the
 * past.
 */
export interface Availability {
  readonly state: 'closed' | 'open' | 'half-open';
  /** Unix milliseconds. Null: closed. */
  readonly until: UnixMs | null;
  /** Cause of the state, as text. Null: closed. */
  readonly reason: string | null;
}

/** Measurements of one endpoint. Null: not measured yet. */
export interface EndpointHealth {
  /** Number of running attempts. */
  readonly inFlight: number;
  /** Streams: milliseconds to the first content. */
  readonly firstTokenMs: DurationMs | null;
  /** Whole answers: milliseconds to the complete answer. */
  readonly answerMs: DurationMs | null;
  readonly tokensPerSecond: number | null;
  /** Share of prompt tokens read from the upstream's cache, from 0 to 1, over prompts long enough to be cached. */
  readonly cacheHitRate: number | null;
  /** Tokens above which it has refused requests as too long. Null: it has not. */
  learnedContext(nowMs: UnixMs): number | null;
  /** Unix milliseconds of the last measurement. Null: none. */
  readonly measuredAt: UnixMs | null;
  /** Number of plans since its last attempt in which it was not first. */
  readonly skippedPlans: number;
  /** Share of recent attempts without a failure of the endpoint, from 0 to 1. */
  successRate(nowMs: UnixMs): number | null;
  /** The same with two successes added, above 0 and at most 1, because a single failure proves little. */
  stability(nowMs: UnixMs): number;
  /** Recent failures by kind, decaying. Kinds without failures are absent. */
  failures(nowMs: UnixMs): Readonly<Partial<Record<ErrorKind, number>>>;
  /**
   * 95th percentile of the time to first content (streams) or to the complete answer. Null: fewer than 20 measurements.
   */
  p95Ms(stream: boolean): DurationMs | null;
  /** 90th percentile of output tokens. Null: fewer than 20 measurements. */
  readonly usualOutputTokens: number | null;
  availability(nowMs: UnixMs): Availability;
  /** Outcomes of the latest attempts, for operators. */
  readonly recent: Pick<RecentAttempts, 'window' | 'lastAt' | 'badSince' | 'isFailing'>;
  /** State set by an operator who disabled the endpoint. Null: not disabled. */
  disabled(nowMs: UnixMs): Availability | null;
  /** State of its breaker alone. */
  breaker(nowMs: UnixMs): Availability;
  /** True: the breaker avoids it because of repeated failures. */
  isBroken(nowMs: UnixMs): boolean;
}

/** True: the breaker avoids the endpoint because of rate limits alone, which do not make it fail. */
export function isOnlyLimited(health: Pick<EndpointHealth, 'isBroken' | 'recent'>, nowMs: UnixMs): boolean {
  return health.isBroken(nowMs) && health.recent.badSince === null;
}

/** Outcome of an attempt. */
export interface AttemptOutcome {
  /** Null: complete. `cancelled`: no longer needed; says nothing about the endpoint. */
  readonly failure: ErrorKind | 'cancelled' | null;
  /** True: the failure is the endpoint's fault, rather than the caller's. */
  readonly endpointsFault: boolean;
  /** Delay requested by the upstream, in milliseconds. Undefined: none. */
  readonly retryAfterMs?: DurationMs | undefined;
  readonly usage: Usage | null;
}

/** A running attempt. Each method is called at most once; `ended` always. */
export interface AttemptLease {
  /** The head of the answer arrived. */
  limits(notice: LimitNotice): void;
  /** The first content arrived. Shows that a half-open endpoint has recovered. */
  firstContent(): void;
  ended(outcome: AttemptOutcome): void;
}

export interface RoutingState {
  health(endpoint: EndpointId): EndpointHealth;
  /** The same without creating an entry. Null: nothing is stored for the endpoint. */
  seen(endpoint: EndpointId): EndpointHealth | null;
  /** Every endpoint with stored state. */
  remembered(): readonly EndpointId[];
  /** Disables an endpoint on behalf of an operator. @param untilMs Unix milliseconds */
  disable(endpoint: EndpointId, untilMs: UnixMs, reason: string): void;
  /** Enables it again: clears its states and the counts of its breaker. */
  enable(endpoint: EndpointId): void;
  /** Adds attempts from before this process began, oldest first. For display only. */
  recall(endpoint: EndpointId, attempts: readonly PastAttempt[]): void;
  /** True when a request may be sent now. False while it is open, or half-open with a running request. */
  admits(endpoint: EndpointId): boolean;
  /** Begins an attempt. After `admits`, it is the single attempt of a half-open endpoint. */
  begin(endpoint: EndpointId, stream: boolean): AttemptLease;
  /** Notes that a plan preferred other endpoints. */
  skipped(endpoint: EndpointId): void;
  /** Notes that it refused a request as too long. @param tokens maximum that it accepts */
  learnContext(endpoint: EndpointId, tokens: number): void;
  /** Round-robin counter of a scope, starting at 0. `peek` does not increment it. */
  turn(scope: string, peek: boolean): number;
  /**
   * Endpoint to which a conversation returns, because it caches the prefix or produced the encrypted reasoning. Null: none,
   * or it has expired.
   */
  holder(conversation: string): EndpointId | null;
  /** Stores that endpoint for `ttlMs`. */
  hold(conversation: string, endpoint: EndpointId, ttlMs: DurationMs): void;
}
