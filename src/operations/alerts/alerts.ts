// Publishes each alert once, in the log and to webhooks. Alerts are stored in the database, so that a restart does not
// publish them again. While the database is unavailable, this process remembers them.
import { newId } from '../../base/runtime/ids.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { type AlertStore, type Announcer, eventId } from '../../accounts/ports/index.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Alert } from './alert.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface AlertsOptions {
  readonly store: AlertStore;
  readonly announcer: Pick<Announcer, 'announce'>;
  readonly clock: Pick<Clock, 'now' | 'wall'>;
  readonly log: Logger;
  /** Called for each published alert. */
  readonly onRaised: (alert: Alert) => void;
}

/** Maximum number of remembered alerts. For older ones the database is queried again. */
const MOST_REMEMBERED = 10_000;

export class Alerts {
  readonly #options: AlertsOptions;
  /** Monotonic milliseconds of each alert's last publication. */
  readonly #raisedAt = new Map<string, number>();

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  /** Publishes an alert unless that was done before. Never rejects. */
  async raise(alert: Alert): Promise<void> {
    const { id, quietMs, isNoted, type, message, data } = alert;
    const { clock, log, onRaised } = this.#options;
    const now = clock.now();
    const before = this.#raisedAt.get(id);
    if (before !== undefined && now - before < quietMs) return;
    this.#remember(id, now);
    if (isNoted && !(await this.#claim(id, clock.wall(), quietMs))) return;
    log.warn(message, { alert: type, ...data });
    onRaised(alert);
    await this.#announce(alert);
    if (isNoted) await this.#keep(alert, clock.wall());
  }

  /** Stores an alert that could not be stored when it was raised, and is now over. Never rejects. */
  async over(alert: Alert, raisedAt: UnixMs): Promise<void> {
    await this.#keep(alert, raisedAt);
    const { store, clock, log } = this.#options;
    await store
      .resolve(alert.id, clock.wall())
      .catch((error: unknown) => log.warn('a resolved alert could not be saved', { error }));
  }

  async #announce({ id, type, message, data }: Alert): Promise<void> {
    const { announcer, clock, log } = this.#options;
    try {
      await announcer.announce({
        id: eventId('alert', id, String(clock.wall())),
        type,
        projectId: null,
        data: { message, ...data },
      });
    } catch (error) {
      log.error('an alert could not be sent to webhooks', { alert: type, error });
    }
  }

  async #claim(id: string, nowMs: UnixMs, quietMs: DurationMs): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      return await store.claim(id, nowMs, quietMs);
    } catch (error) {
      log.warn('an alert could not be marked as sent; it may be sent again after a restart', { error });
      return true;
    }
  }

  async #keep({ id: event, type, message, data }: Alert, raisedAt: UnixMs): Promise<void> {
    const { store, log } = this.#options;
    try {
      await store.keep({ id: newId('alert_'), raisedAt, type, message, data }, event);
    } catch (error) {
      log.warn('an alert could not be saved; it is missing from the list of alerts', { error });
    }
  }

  #remember(id: string, now: UnixMs): void {
    this.#raisedAt.delete(id);
    const [oldest] = this.#raisedAt.keys();
    if (this.#raisedAt.size >= MOST_REMEMBERED && oldest !== undefined) this.#raisedAt.delete(oldest);
    this.#raisedAt.set(id, now);
  }
}
