// Limits of an upstream as it announces them itself.

/** What an upstream says about its own limits in the headers of an answer. */
export interface LimitNotice {
  /** Requests or tokens left, whichever is nearer to none: 0 means that the next request is refused. */
  readonly remaining: number;
  /** Milliseconds until the limit is lifted. */
  readonly resetMs: number;
}
