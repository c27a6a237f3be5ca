// Memory of alerts: each is sent once, and what was sent is kept for people who come later.
import type { JsonObject } from '../../base/json/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** An alert that was published. */
export interface PastAlert {
  readonly id: string;
  readonly raisedAt: UnixMs;
  readonly type: string;
  readonly message: string;
  readonly data: JsonObject;
}

/** An alert as it is listed. */
export interface ListedAlert extends PastAlert {
  /** True: it is not over. */
  readonly isOpen: boolean;
  /** When it was over. Null: it is not, or nobody knows when. */
  readonly resolvedAt: UnixMs | null;
}

/** An alert that is not over. */
export interface OpenAlert extends Omit<PastAlert, 'message'> {
  /** Names what it is about: the same for the same trouble. */
  readonly event: string;
}

/** At most `limit` alerts, newest first: those that follow `after`, or come before `before`. */
export interface AlertQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly type?: string | undefined;
  /** True: only alerts that are not over; false: only those that are. */
  readonly isOpen?: boolean | undefined;
}

export interface AlertStore {
  /**
   * Notes that an event is told now.
   * @param quietMs how long the same is not told again; Infinity: never
   * @returns false where it was told within that time
   * @throws GatewayError `internal` when it could not be noted
   */
  claim(id: string, nowMs: UnixMs, quietMs: DurationMs): Promise<boolean>;
  /**
   * Keeps what was published, for 400 days.
   * @param event names what it is about, for its end
   * @throws GatewayError `internal` when it could not be kept
   */
  keep(alert: PastAlert, event: string): Promise<void>;
  /** Alerts that are not over, newest first, at most 1,000. */
  open(): Promise<readonly OpenAlert[]>;
  /** Ends the alerts of an event. False: none of them was open. */
  resolve(event: string, nowMs: UnixMs): Promise<boolean>;
  /** @throws GatewayError `invalid_request` (`after`, `before`) for an unknown alert */
  list(query: AlertQuery): Promise<{ readonly alerts: readonly ListedAlert[]; readonly hasMore: boolean }>;
}
