// Rate limits in response headers: those that upstreams announce, and those that the gateway announces.
import type { DurationMs, UnixMs } from '../base/units.ts';

/** Rate limit state from the headers of an upstream response. */
export interface LimitNotice {
  /** Remaining requests or tokens, of the limit that is closer to exhaustion. 0: the next request will be refused. */
  readonly remaining: number;
  /** Milliseconds until the limit resets. */
  readonly resetMs: DurationMs;
}

/** One limit of an upstream. Its size distinguishes it from others. */
export interface AnnouncedLimit {
  readonly kind: 'requests' | 'tokens';
  readonly amount: number;
  readonly remaining: number;
}

/** State of one of the gateway's limits, as shown to the client. */
export interface LimitState {
  readonly amount: number;
  /** Never below 0. */
  readonly remaining: number;
  /** Unix milliseconds at which the whole quota is available again without further requests; null: never. */
  readonly clearsAtMs: UnixMs | null;
}

/** The limits with the least remaining quota; null if there is none of that kind. */
export interface LimitStates {
  /** Time of this state. */
  readonly atMs: UnixMs;
  readonly requests: LimitState | null;
  readonly tokens: LimitState | null;
}
