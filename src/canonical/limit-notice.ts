// Limits as they are announced: by an upstream of its own, and by the gateway of those that it keeps.
import type { DurationMs, UnixMs } from '../base/units.ts';

/** Limits that an upstream announces in the headers of an answer. */
export interface LimitNotice {
  /** Requests or tokens left, whichever is nearer to none: 0 means that the next request is refused. */
  readonly remaining: number;
  /** Milliseconds until the limit is lifted. */
  readonly resetMs: DurationMs;
}

/** One limit of an upstream, with its size: by that it is told from others. */
export interface AnnouncedLimit {
  readonly kind: 'requests' | 'tokens';
  readonly amount: number;
  readonly remaining: number;
}

/** Remaining quota of a limit of the gateway, for a client that has to keep to it. */
export interface LimitState {
  readonly amount: number;
  /** Never below 0. */
  readonly remaining: number;
  /** Unix milliseconds at which nothing of it will be used, if nothing else comes; null: never. */
  readonly clearsAtMs: UnixMs | null;
}

/** The limits of which the least is left; null where there are none of a kind. */
export interface LimitStates {
  /** When it was so. */
  readonly atMs: UnixMs;
  readonly requests: LimitState | null;
  readonly tokens: LimitState | null;
}
