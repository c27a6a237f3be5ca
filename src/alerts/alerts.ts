// Tells each event once: in the log, and to the webhooks. What was told is in the database, so that a start tells nothing
// again; while the database takes nothing, this process remembers.
import type { Clock } from '../runtime/clock.ts';
import type { AlertStore } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Alert } from './alert.ts';
import type { Webhooks } from './webhooks.ts';

export interface AlertsOptions {
  readonly store: AlertStore;
  readonly webhooks: Pick<Webhooks, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Hears of each event that is told. */
  readonly told: (alert: Alert) => void;
}

/** Events that this process remembers; the oldest is asked of the database again. */
const MOST_REMEMBERED = 10_000;

export class Alerts {
  readonly #options: AlertsOptions;
  /** When each event was told last, in Unix milliseconds. */
  readonly #told = new Map<string, number>();

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  /** Tells an event, unless that was done. Never rejects. */
  async raise(alert: Alert): Promise<void> {
    const { id, quietMs, isNoted, type, message, data } = alert;
    const { clock, webhooks, log, told } = this.#options;
    const now = clock.now();
    const before = this.#told.get(id);
    if (before !== undefined && now - before < quietMs) return;
    this.#remember(id, now);
    if (isNoted && !(await this.#claim(id, now, quietMs))) return;
    log.warn(message, { alert: type, ...data });
    webhooks.send(alert);
    told(alert);
  }

  async #claim(id: string, now: number, quietMs: number): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      return await store.claim(id, now, quietMs);
    } catch (error) {
      log.warn('an alert cannot be noted: it may be told again after a start', { error });
      return true;
    }
  }

  #remember(id: string, now: number): void {
    this.#told.delete(id);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= MOST_REMEMBERED && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(id, now);
  }
}
