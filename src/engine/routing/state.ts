// State of routing between requests, as a port: how each endpoint did lately, whose turn it is, and where a
// conversation's cached prefix lives. Synchronous, because a plan is made between two lines of code; an
// implementation that shares with other processes answers from its own copy and exchanges in the background.
import type { ErrorKind, LimitNotice, Usage } from '../../canonical/index.ts';
import type { PastAttempt, RecentAttempts } from './recent-attempts.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Which deployment of which model: the same after a reload of the configuration. Every `Endpoint` is one. */
export interface EndpointId {
  readonly modelId: string;
  readonly slug: string;
}

/**
 * `closed`: sound. `open`: left alone until `until`. `half-open`: one request at a time may try whether it is sound
 * again; `until` is in the past.
 */
export interface Standing {
  readonly state: 'closed' | 'open' | 'half-open';
  /** Unix milliseconds; null when closed. */
  readonly until: UnixMs | null;
  /** Cause of the state, in words. Null: closed. */
  readonly reason: string | null;
}

/** Measurements of one endpoint. Each is null until there is one: unknown is neither fast nor slow. */
export interface EndpointHealth {
  /** Attempts that run now. */
  readonly inFlight: number;
  /** Streams: milliseconds to the first content. */
  readonly firstTokenMs: DurationMs | null;
  /** Whole answers: milliseconds to all of it. */
  readonly answerMs: DurationMs | null;
  readonly tokensPerSecond: number | null;
  /** Share of prompt tokens read from the upstream's cache, 0 to 1, over prompts long enough to be cached. */
  readonly cacheHitRate: number | null;
  /** Tokens beyond which it has refused requests as too long; null when it has not. */
  learnedContext(nowMs: UnixMs): number | null;
  /** Unix milliseconds of the last measure; null when there is none. */
  readonly measuredAt: UnixMs | null;
  /** Plans in which it stood behind another since it was last tried. */
  readonly passedOver: number;
  /** Share of recent attempts that did not fail by the endpoint's fault, 0 to 1. */
  successRate(nowMs: UnixMs): number | null;
  /** The same with two good attempts added, over 0 up to 1: one failure of a stranger proves little. */
  stability(nowMs: UnixMs): number;
  /** Recent failures by kind, decaying; kinds without any are absent. */
  failures(nowMs: UnixMs): Readonly<Partial<Record<ErrorKind, number>>>;
  /**
   * The time within which 95 of 100 attempts showed their first content (streams) or were complete (whole answers);
   * null under 20 measures.
   */
  p95Ms(stream: boolean): DurationMs | null;
  /** Tokens that 90 of 100 answers do not exceed; null under 20 measures. */
  readonly usualOutputTokens: number | null;
  standing(nowMs: UnixMs): Standing;
  /** How the latest attempts ended, for operators. */
  readonly recent: Pick<RecentAttempts, 'window' | 'lastAt' | 'badSince' | 'isFailing'>;
  /** Mark of an endpoint that an operator disabled. Null: it is not. */
  disabled(nowMs: UnixMs): Standing | null;
  /** State of its breaker, whatever else puts it aside. */
  breaker(nowMs: UnixMs): Standing;
  /** Whether it is left alone because it kept failing, whatever else puts it aside. */
  isBroken(nowMs: UnixMs): boolean;
}

/** How an attempt ended. */
export interface AttemptOutcome {
  /** Null: it was complete. `cancelled`: nobody wanted it any more; says nothing about the endpoint. */
  readonly failure: ErrorKind | 'cancelled' | null;
  /** Whether the failure was the endpoint's; the caller's own mistakes do not count against it. */
  readonly endpointsFault: boolean;
  /** Milliseconds that the upstream asked to be left alone; undefined when it did not. */
  readonly retryAfterMs?: DurationMs | undefined;
  readonly usage: Usage | null;
}

/** One attempt while it runs. Each method is called at most once; `ended` always. */
export interface AttemptLease {
  /** The head of the answer is here. */
  limits(notice: LimitNotice): void;
  /** The first content is here. Proves that a half-open endpoint is sound again. */
  firstContent(): void;
  ended(outcome: AttemptOutcome): void;
}

export interface RoutingState {
  health(endpoint: EndpointId): EndpointHealth;
  /** The same for whoever only looks; null for an endpoint of which nothing is remembered. */
  seen(endpoint: EndpointId): EndpointHealth | null;
  /** Every endpoint of which something is remembered. */
  remembered(): readonly EndpointId[];
  /** Puts an endpoint aside by hand, whatever it shows meanwhile. @param untilMs Unix milliseconds */
  disable(endpoint: EndpointId, untilMs: UnixMs, reason: string): void;
  /** Takes it back: forgets why it was put aside, and what its breaker had counted. */
  takeBack(endpoint: EndpointId): void;
  /** Attempts of before this process began, the oldest first: for operators alone. */
  recall(endpoint: EndpointId, attempts: readonly PastAttempt[]): void;
  /** May a request be sent there now? False while it is open, or half-open with a request under way. */
  admits(endpoint: EndpointId): boolean;
  /** An attempt begins; after `admits` it also takes the one place of a half-open endpoint. */
  begin(endpoint: EndpointId, stream: boolean): AttemptLease;
  /** Notes that a plan put others before this endpoint. */
  passOver(endpoint: EndpointId): void;
  /** Notes that it refused a request as too long. @param tokens what it holds at most */
  learnContext(endpoint: EndpointId, tokens: number): void;
  /** Counts up from 0 for each scope: whose turn it is in a round. `peek` does not count. */
  turn(scope: string, peek: boolean): number;
  /** Which endpoint holds the cached prefix of a conversation; null when none does, or no longer. */
  holder(conversation: string): EndpointId | null;
  /** Remembers the holder for `ttlMs`. */
  hold(conversation: string, endpoint: EndpointId, ttlMs: DurationMs): void;
}
