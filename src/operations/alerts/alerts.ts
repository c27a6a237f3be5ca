// Raises each alert once: in the log, and to the webhooks. Raised alerts are in the database, so that a start raises nothing
// again; while the database takes nothing, this process remembers.
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
  /** Hears of each event that is told. */
  readonly onRaised: (alert: Alert) => void;
}

/** Events that this process remembers; the oldest is asked of the database again. */
const MOST_REMEMBERED = 10_000;

export class Alerts {
  readonly #options: AlertsOptions;
  /** When each alert was raised last, in milliseconds that only go forward. */
  readonly #raisedAt = new Map<string, number>();

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  /** Tells an event, unless that was done. Never rejects. */
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

  /** Keeps an alert that could not be noted when it was raised, and is over now. Never rejects. */
  async over(alert: Alert, raisedAt: UnixMs): Promise<void> {
    await this.#keep(alert, raisedAt);
    const { store, clock, log } = this.#options;
    await store
      .resolve(alert.id, clock.wall())
      .catch((error: unknown) => log.warn('the end of an alert cannot be kept', { error }));
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
      log.error('an alert could not be announced: no webhook gets it', { alert: type, error });
    }
  }

  async #claim(id: string, nowMs: UnixMs, quietMs: DurationMs): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      return await store.claim(id, nowMs, quietMs);
    } catch (error) {
      log.warn('an alert cannot be noted: it may be told again after a start', { error });
      return true;
    }
  }

  async #keep({ id: event, type, message, data }: Alert, raisedAt: UnixMs): Promise<void> {
    const { store, log } = this.#options;
    try {
      await store.keep({ id: newId('alert_'), raisedAt, type, message, data }, event);
    } catch (error) {
      log.warn('an alert cannot be kept: the list of alerts lacks it', { error });
    }
  }

  #remember(id: string, now: UnixMs): void {
    this.#raisedAt.delete(id);
    const [oldest] = this.#raisedAt.keys();
    if (this.#raisedAt.size >= MOST_REMEMBERED && oldest !== undefined) this.#raisedAt.delete(oldest);
    this.#raisedAt.set(id, now);
  }
}
