// Alerts for operators.
import type { JsonObject } from '../../base/json/index.ts';
import type { DurationMs } from '../../base/units.ts';

export const ALERT_TYPES = [
  'budget.threshold_reached',
  'endpoint.opened',
  'provider.key_refused',
  'ledger.failing',
  'webhook.disabled',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export interface Alert {
  readonly type: AlertType;
  /** The same for repetitions of the same event, which are published once. */
  readonly id: string;
  /** Milliseconds during which a repetition is not published; Infinity: it never is. */
  readonly quietMs: DurationMs;
  /** False: not stored in the database, because the alert is about the database. */
  readonly isNoted: boolean;
  /** A sentence for people. */
  readonly message: string;
  /** The same information for programs, in snake case. */
  readonly data: JsonObject;
}
