// Opens whatever watches requests: metrics and alerts. One observer for the engine, and one end of all.
import type { Catalog } from '../catalog/index.ts';
import type { SettlementObserver } from '../engine/index.ts';
import { type AlertParts, openAlerts } from './open-alerts.ts';
import { Metrics } from './open-metrics.ts';

export interface ObserverParts extends AlertParts {
  /** As it is configured now. */
  readonly catalog: () => Catalog;
}

export interface Observers {
  readonly metrics: Metrics;
  /** Tells all of them. */
  readonly observer: SettlementObserver;
  stop(): void;
}

export function openObservers({ catalog, ...parts }: ObserverParts): Observers {
  const metrics = new Metrics(catalog);
  const alerts = openAlerts(parts);
  const all: readonly SettlementObserver[] = [metrics.requests, alerts];
  return {
    metrics,
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
    stop: () => alerts.stop(),
  };
}
