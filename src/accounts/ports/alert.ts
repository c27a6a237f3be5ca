// Memory of alerts: each is sent once, and what was sent is kept for people who come later.
import type { JsonObject } from '../../base/json/index.ts';

/** An alert that was published. */
export interface PastAlert {
  readonly id: string;
  /** Unix milliseconds. */
  readonly raisedAt: number;
  readonly type: string;
  readonly message: string;
  readonly data: JsonObject;
}

/** At most `limit` alerts, newest first: those that follow `after`, or come before `before`. */
export interface AlertQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly type?: string | undefined;
}

export interface AlertStore {
  /**
   * Notes that an event is told now.
   * @param quietMs how long the same is not told again; Infinity: never
   * @returns false where it was told within that time
   * @throws GatewayError `internal` when it could not be noted
   */
  claim(id: string, nowMs: number, quietMs: number): Promise<boolean>;
  /** Keeps what was published, for 400 days. @throws GatewayError `internal` when it could not be kept */
  keep(alert: PastAlert): Promise<void>;
  /** @throws GatewayError `invalid_request` (`after`, `before`) for an unknown alert */
  list(query: AlertQuery): Promise<{ readonly alerts: readonly PastAlert[]; readonly hasMore: boolean }>;
}
