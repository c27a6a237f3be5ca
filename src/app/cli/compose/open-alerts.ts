// Opens the alerts: what finds them out, and what publishes each once.
import { type Alert, Alerts, Watch } from '../../../operations/alerts/index.ts';
import type { SettlementObserver } from '../../../engine/index.ts';
import type { Limits } from '../../../accounts/limits/index.ts';
import type { RoutingState } from '../../../engine/routing/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Announcer, Storage } from '../../../accounts/ports/index.ts';
import type { Logger } from '../../../base/telemetry/log.ts';

export interface AlertParts {
  readonly limits: Limits;
  readonly routing: RoutingState;
  readonly storage: Pick<Storage, 'alerts' | 'ledger'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * @param announcer sends alerts to receivers of webhooks
 * @param onRaised called for every alert, too
 * @returns the observer of requests that are over, the publisher of alerts, and their end
 */
export function openAlerts({
  limits,
  routing,
  storage,
  clock,
  log,
  announcer,
  onRaised,
}: AlertParts & { readonly announcer: Announcer; readonly onRaised: (alert: Alert) => void }): {
  readonly watch: SettlementObserver;
  readonly raise: (alert: Alert) => Promise<void>;
  stop(): void;
} {
  const alerts = new Alerts({ store: storage.alerts, announcer, clock, log, onRaised });
  const raise = (alert: Alert): Promise<void> => alerts.raise(alert);
  const watch = new Watch({ limits, routing, ledger: storage.ledger, clock, raise });
  return { watch, raise, stop: () => watch.stop() };
}
