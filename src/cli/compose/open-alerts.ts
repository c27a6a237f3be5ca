// Opens the alerts: what finds out, what tells it once, and how it reaches the operator's webhooks.
import { type Alert, Alerts, Watch, Webhooks } from '../../alerts/index.ts';
import type { Config } from '../../config/index.ts';
import type { SettlementObserver } from '../../engine/index.ts';
import type { Limits } from '../../limits/index.ts';
import type { RoutingState } from '../../routing/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Storage } from '../../storage/ports.ts';
import type { Logger } from '../../telemetry/log.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../upstream/fetch-guarded.ts';
import { hostAndPort } from '../../upstream/guard.ts';

export interface AlertParts extends Omit<GuardedFetchOptions, 'allow'> {
  /** The configuration in force. */
  readonly config: () => Config;
  readonly limits: Limits;
  readonly routing: RoutingState;
  readonly storage: Pick<Storage, 'alerts' | 'ledger'>;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

/** @param told hears of every alert, too. @returns what is told of every request that is over, and what ends it */
export function openAlerts({
  config,
  limits,
  routing,
  storage,
  random,
  log,
  told,
  ...network
}: AlertParts & { readonly told: (alert: Alert) => void }): {
  readonly watch: SettlementObserver;
  stop(): void;
} {
  const { clock } = network;
  const receivers = (): Config['alerts']['webhooks'] => config().alerts.webhooks;
  // What the operator names may stand in the operator's own network.
  const allow = (): readonly string[] => receivers().map(({ url }) => hostAndPort(url));
  const fetch = new GuardedFetch({ ...network, allow });
  const webhooks = new Webhooks({ webhooks: receivers, fetch, clock, random, log });
  const alerts = new Alerts({ store: storage.alerts, webhooks, clock, log, told });
  const raise = (alert: Parameters<typeof alerts.raise>[0]): Promise<void> => alerts.raise(alert);
  const watch = new Watch({ limits, routing, ledger: storage.ledger, clock, raise });
  return {
    watch,
    stop() {
      watch.stop();
      webhooks.stop();
    },
  };
}
