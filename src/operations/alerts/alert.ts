// Alerts that operators get without asking. Knows neither when nor by whom they are raised.
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
  /** The same for the same event: it is told once. */
  readonly id: string;
  /** How long the same is not told again; Infinity: never. */
  readonly quietMs: DurationMs;
  /** False: not to be noted in the database, which is what it is about. */
  readonly isNoted: boolean;
  /** A sentence for people. */
  readonly message: string;
  /** The same for programs; names are in snake case. */
  readonly data: JsonObject;
}
