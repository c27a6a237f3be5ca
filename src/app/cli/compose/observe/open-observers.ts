// Opens all observers of requests: metrics, alerts, traces, access log. They are combined into one observer for the
// engine.
import type { FinishedRequest, RequestObserver } from '../../../../engine/index.ts';
import { type Alert, AlertEnds, Alerts, Watch } from '../../../../operations/alerts/index.ts';
import { EventHub, LastUsed } from '../../../../operations/events/index.ts';
import { PayloadKeeper } from '../../../../operations/payloads/index.ts';
import type { Announcer, Storage } from '../../../../accounts/ports/index.ts';
import type { GuardedFetchOptions } from '../../../../upstream/fetch-guarded.ts';
import { accessLog } from './access-log.ts';
import { Metrics } from './open-metrics.ts';
import { type NoticeParts, openNotices } from './open-notices.ts';
import type { Settings } from '../open-settings.ts';
import type { Sharing } from '../open-sharing.ts';
import type { Part } from '../part.ts';
import { openTraces } from './open-traces.ts';
import type { Limits } from '../../../../accounts/limits/index.ts';
import type { RoutingState } from '../../../../engine/routing/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import type { Logger } from '../../../../base/telemetry/log.ts';
import type { UnixMs } from '../../../../base/units.ts';

export interface ObserverParts extends Pick<AlertParts, 'limits' | 'routing'> {
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Sends alerts to webhook receivers. */
  readonly announcer: Announcer;
  readonly settings: Pick<Settings, 'config' | 'catalog' | 'log'>;
  readonly network: Omit<GuardedFetchOptions, 'allow'>;
  /** Takes one line of the access log, newline included. */
  readonly write: (line: string) => void;
  /** Null: single process. */
  readonly sharing: Pick<Sharing, 'shareEvents'> | null;
  readonly storage: AlertParts['storage'] & NoticeParts['storage'] & Pick<Storage, 'payloads'>;
}

export interface Observers extends Part {
  readonly recorders: PayloadKeeper;
  readonly events: EventHub;
  readonly metrics: Metrics;
  readonly lastUsed: LastUsed;
  /** Publishes an alert. */
  readonly raise: (alert: Alert) => Promise<void>;
  /** Notifies all of them. */
  readonly observer: RequestObserver;
  /** Resolves when the last spans are sent, or after a moment, and everything is stored. */
  stop(): Promise<void>;
}

export async function openObservers(input: ObserverParts): Promise<Observers> {
  const { settings, network, limits, routing, storage, sharing, announcer, random, write } = input;
  const { config, catalog, log } = settings;
  const { clock } = network;
  const parts = { ...network, config, limits, routing, storage, log };
  const events = new EventHub(routing, clock);
  const notices = await openNotices(parts);
  (notices ?? sharing)?.shareEvents(events);
  const alerts = openAlerts({
    ...parts,
    announcer,
    onRaised: (alert) => events.alerted(alert),
    onEnded: () => events.changed('alerts'),
  });
  const exporter = openTraces(parts);
  const recorders = new PayloadKeeper({
    store: storage.payloads,
    settings: () => config().logging,
    random,
    now: clock.now,
    log,
  });
  const metrics = new Metrics(catalog, exporter, recorders);
  const lastUsed = new LastUsed();
  const access = accessLog(write);
  const notify = (observer: RequestObserver, finished: FinishedRequest): void => {
    try {
      observer.finished(finished);
    } catch (error) {
      // A failing observer must affect neither the request nor other observers.
      log.error('a request could not be observed', { id: finished.generation.id, error });
    }
  };
  return {
    metrics,
    lastUsed,
    raise: alerts.raise,
    recorders,
    events,
    observer: {
      finished(finished) {
        notify(metrics.requests, finished);
        notify(alerts.watch, finished);
        notify(lastUsed, finished);
        // Skipped where unnecessary, which is the usual case.
        if (finished.trace?.isSampled) notify(exporter, finished);
        if (config().logging.access) notify(access, finished);
        if (events.hasSubscribers) notify(events, finished);
      },
    },
    reload: () => events.changed('configuration'),
    async stop() {
      alerts.stop();
      events.stop();
      notices?.close();
      await Promise.all([exporter.stop(), recorders.stop()]);
    },
  };
}

/** Parts that the alerts need. */
interface AlertParts {
  readonly limits: Limits;
  readonly routing: RoutingState;
  readonly storage: Pick<Storage, 'alerts' | 'ledger' | 'webhooks'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Opens the alerts: their detection and their publication, once per alert.
 * @param announcer sends alerts to webhook receivers
 * @param onRaised also called for every alert
 * @param onEnded called when an alert is resolved
 * @returns the observer of finished requests, the publisher of alerts, and a function that stops them
 */
function openAlerts({
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
  readonly watch: RequestObserver;
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
      finished(finished) {
        watch.finished(finished);
        ends.finished(finished);
      },
    },
    raise,
    stop() {
      watch.stop();
      ends.stop();
    },
  };
}
