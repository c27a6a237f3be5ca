// Opens whatever watches requests: metrics, alerts, traces, the access log. One observer for the engine, one end of all.
import type { Catalog } from '../../catalog/index.ts';
import type { Settlement, SettlementObserver } from '../../engine/index.ts';
import { EventHub } from '../../events/index.ts';
import { PayloadKeeper } from '../../payloads/index.ts';
import type { Storage } from '../../storage/ports.ts';
import { accessLog } from './access-log.ts';
import { type AlertParts, openAlerts } from './open-alerts.ts';
import { Metrics } from './open-metrics.ts';
import { openNotices } from './open-notices.ts';
import type { Sharing } from './open-sharing.ts';
import { openTraces } from './open-traces.ts';

export interface ObserverParts extends AlertParts {
  /** As it is configured now. */
  readonly catalog: () => Catalog;
  /** Takes one line of the access log, newline included. */
  readonly write: (line: string) => void;
  /** Null for a process alone. */
  readonly sharing: Pick<Sharing, 'shareEvents'> | null;
  readonly storage: AlertParts['storage'] & Pick<Storage, 'payloads' | 'notices'>;
}

export interface Observers {
  readonly tapes: PayloadKeeper;
  readonly events: EventHub;
  readonly metrics: Metrics;
  /** Tells all of them. */
  readonly observer: SettlementObserver;
  /** Resolves when the last spans are sent, or after a moment, and what was said is kept. */
  stop(): Promise<void>;
}

export async function openObservers({
  catalog,
  write,
  sharing,
  ...parts
}: ObserverParts): Promise<Observers> {
  const events = new EventHub(parts.routing, parts.clock);
  const notices = await openNotices(parts);
  (notices ?? sharing)?.shareEvents(events);
  const alerts = openAlerts({ ...parts, told: (alert) => events.alerted(alert) });
  const exporter = openTraces(parts);
  const { config, storage, random, clock, log } = parts;
  const tapes = new PayloadKeeper({
    store: storage.payloads,
    settings: () => config().logging,
    random,
    now: clock.now,
    log,
  });
  const metrics = new Metrics(catalog, exporter, tapes);
  const access = accessLog(write);
  const tell = (observer: SettlementObserver, settlement: Settlement): void => {
    try {
      observer.settled(settlement);
    } catch (error) {
      // What one of them cannot count is no trouble of the request, nor of the others.
      log.error('a request could not be observed', { id: settlement.generation.id, error });
    }
  };
  return {
    metrics,
    tapes,
    events,
    observer: {
      settled(settlement) {
        tell(metrics.requests, settlement);
        tell(alerts.watch, settlement);
        // The others usually have nothing to do.
        if (settlement.trace?.isSampled) tell(exporter, settlement);
        if (config().logging.access) tell(access, settlement);
        if (events.isHeard) tell(events, settlement);
      },
    },
    async stop() {
      alerts.stop();
      events.stop();
      notices?.close();
      await Promise.all([exporter.stop(), tapes.stop()]);
    },
  };
}
