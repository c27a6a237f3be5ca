// Opens the alerts: what finds them out, and what publishes each once.
import { type Alert, AlertEnds, Alerts, Watch } from '../../../../operations/alerts/index.ts';
import type { SettlementObserver } from '../../../../engine/index.ts';
import type { Limits } from '../../../../accounts/limits/index.ts';
import type { RoutingState } from '../../../../engine/routing/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import type { Announcer, Storage } from '../../../../accounts/ports/index.ts';
import type { Logger } from '../../../../base/telemetry/log.ts';
import type { UnixMs } from '../../../../base/units.ts';

export interface AlertParts {
  readonly limits: Limits;
  readonly routing: RoutingState;
  readonly storage: Pick<Storage, 'alerts' | 'ledger' | 'webhooks'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * @param announcer sends alerts to receivers of webhooks
 * @param onRaised called for every alert, too
 * @param onEnded called when an alert is over
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
  onEnded,
}: AlertParts & {
  readonly announcer: Announcer;
  readonly onRaised: (alert: Alert) => void;
  readonly onEnded: () => void;
}): {
  readonly watch: SettlementObserver;
  readonly raise: (alert: Alert) => Promise<void>;
  stop(): void;
} {
  const ends = new AlertEnds({
    store: storage.alerts,
    limits,
    routing,
    webhooks: storage.webhooks,
    clock,
    log,
    ended: onEnded,
  });
  const alerts = new Alerts({
    store: storage.alerts,
    announcer,
    clock,
    log,
    onRaised(alert) {
      ends.raised();
      onRaised(alert);
    },
  });
  const raise = (alert: Alert): Promise<void> => alerts.raise(alert);
  const over = (alert: Alert, raisedAt: UnixMs): Promise<void> => alerts.over(alert, raisedAt);
  const watch = new Watch({ limits, routing, ledger: storage.ledger, clock, raise, over });
  return {
    watch: {
      settled(settlement) {
        watch.settled(settlement);
        ends.settled(settlement);
      },
    },
    raise,
    stop() {
      watch.stop();
      ends.stop();
    },
  };
}
