// Opens whatever watches requests: metrics, alerts, traces, the access log. One observer for the engine, one end of all.
import type { Catalog } from '../catalog/index.ts';
import type { GatewayDependencies, SettlementObserver } from '../engine/index.ts';
import { accessLog } from './access-log.ts';
import { type AlertParts, openAlerts } from './open-alerts.ts';
import { Metrics } from './open-metrics.ts';
import { openTraces } from './open-traces.ts';

export interface ObserverParts extends AlertParts {
  /** As it is configured now. */
  readonly catalog: () => Catalog;
  /** Takes one line of the access log, newline included. */
  readonly write: (line: string) => void;
}

export interface Observers extends Pick<GatewayDependencies, 'trace'> {
  readonly metrics: Metrics;
  /** Tells all of them. */
  readonly observer: SettlementObserver;
  /** Resolves when the last spans are sent, or after a moment. */
  stop(): Promise<void>;
}

export function openObservers({ catalog, write, ...parts }: ObserverParts): Observers {
  const alerts = openAlerts(parts);
  const { exporter, trace } = openTraces(parts);
  const metrics = new Metrics(catalog, exporter);
  const access = accessLog(() => parts.config().logging.access, write);
  const all: readonly SettlementObserver[] = [metrics.requests, alerts, exporter, access];
  return {
    metrics,
    trace,
    observer: {
      settled(settlement) {
        for (const observer of all) {
          try {
            observer.settled(settlement);
          } catch (error) {
            // What one of them cannot count is no trouble of the request, nor of the others.
            parts.log.error('a request could not be observed', { id: settlement.generation.id, error });
          }
        }
      },
    },
    stop() {
      alerts.stop();
      return exporter.stop();
    },
  };
}
