// Port of stored alerts. Each alert is sent once, and sent alerts are kept.
import type { JsonObject } from '../../base/json/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** A sent alert. */
export interface PastAlert {
  readonly id: string;
  readonly raisedAt: UnixMs;
  readonly type: string;
  readonly message: string;
  readonly data: JsonObject;
}

/** An alert in a list. */
export interface ListedAlert extends PastAlert {
  /** True: not resolved. */
  readonly isOpen: boolean;
  /** Time of its end. Null: still open, or unknown. */
  readonly resolvedAt: UnixMs | null;
}

/** An open alert. */
export interface OpenAlert extends Omit<PastAlert, 'message'> {
  /** Name of the problem, the same for repeated alerts. */
  readonly event: string;
}

/** At most `limit` alerts, newest first: those that follow `after`, or come before `before`. */
export interface AlertQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly type?: string | undefined;
  /** True: only open alerts; false: only resolved ones. */
  readonly isOpen?: boolean | undefined;
}

export interface AlertStore {
  /**
   * Claims the right to send an alert.
   * @param quietMs milliseconds for which the same alert is not sent again; Infinity: never again
   * @returns false if it was sent within that time
   * @throws GatewayError `internal` if it could not be stored
   */
  claim(id: string, nowMs: UnixMs, quietMs: DurationMs): Promise<boolean>;
  /**
   * Stores a sent alert for 400 days.
   * @param event name of the problem, to resolve it later
   * @throws GatewayError `internal` if it could not be stored
   */
  keep(alert: PastAlert, event: string): Promise<void>;
  /** Open alerts, newest first, at most 1,000. */
  open(): Promise<readonly OpenAlert[]>;
  /** Resolves the alerts of an event. @returns false if none was open */
  resolve(event: string, nowMs: UnixMs): Promise<boolean>;
  /** @throws GatewayError `invalid_request` (`after`, `before`) for an unknown alert */
  list(query: AlertQuery): Promise<{ readonly alerts: readonly ListedAlert[]; readonly hasMore: boolean }>;
}
