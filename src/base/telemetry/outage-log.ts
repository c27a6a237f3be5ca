// Reduces log lines during a database outage to one at its start, one per minute and one at its end, however many requests
// fail. All other lines are logged unchanged.
import type { LogFields, Logger } from './log.ts';
import type { DurationMs, UnixMs } from '../units.ts';

export interface OutageClock {
  /** Monotonic milliseconds. */
  now(): UnixMs;
  every(ms: DurationMs, run: () => void): () => void;
}

/** Code of the errors that mark an outage. */
const CODE = 'database_unavailable';
const MINUTE_MS = 60_000;
/** Milliseconds without a failure after which an outage is over. The database is queried every second. */
const OVER_MS = 5_000;
const LOOK_MS = 1_000;

/** Wraps a logger for the lifetime of the process. */
export function withOutages(log: Logger, clock: OutageClock): Logger {
  return wrap(log, new Outage(log, clock));
}

function wrap(log: Logger, outage: Outage): Logger {
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields) => {
      if (!outage.takes(message, fields)) log.warn(message, fields);
    },
    error: (message, fields) => {
      if (!outage.takes(message, fields)) log.error(message, fields);
    },
    enabled: (level) => log.enabled(level),
    with: (fields) => wrap(log.with(fields), outage),
  };
}

class Outage {
  readonly #log: Logger;
  readonly #clock: OutageClock;
  /** Stops the timer of the outage; null while there is none. */
  #stopLooking: (() => void) | null = null;
  #beganAt = 0;
  #lastAt = 0;
  #loggedAt = 0;
  /** Number of suppressed lines since the last one, by message. */
  #failures = new Map<string, number>();

  constructor(log: Logger, clock: OutageClock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** True if a line belongs to an outage that is already logged. */
  takes(message: string, fields: LogFields | undefined): boolean {
    const error = fields?.['error'];
    if (!(error instanceof Error) || !('code' in error) || error.code !== CODE) return false;
    this.#lastAt = this.#clock.now();
    if (this.#stopLooking) {
      this.#failures.set(message, (this.#failures.get(message) ?? 0) + 1);
      return true;
    }
    this.#beganAt = this.#loggedAt = this.#lastAt;
    this.#stopLooking = this.#clock.every(LOOK_MS, () => this.#look());
    return false;
  }

  #look(): void {
    const now = this.#clock.now();
    if (now - this.#lastAt >= OVER_MS) {
      this.#stopLooking?.();
      this.#stopLooking = null;
      this.#say('info', 'the database is reachable again', this.#lastAt - this.#beganAt);
    } else if (now - this.#loggedAt >= MINUTE_MS) {
      this.#loggedAt = now;
      this.#say('warn', 'the database is still unreachable', now - this.#beganAt);
    }
  }

  #say(level: 'info' | 'warn', message: string, outageMs: DurationMs): void {
    const failures = Object.fromEntries(this.#failures);
    this.#failures = new Map();
    this.#log[level](message, { away_ms: outageMs, failures });
  }
}
