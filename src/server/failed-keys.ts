// Slows down guessing of API keys: after 20 refused keys from one address within a minute, its further refusals are
// delayed. Valid keys are never delayed, because clients can share an address.
import type { Clock } from '../base/runtime/clock.ts';
import type { Connection } from '../base/runtime/http-server.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { DurationMs } from '../base/units.ts';

/** Refusals of one address per window that are not delayed, for clients that correct their configuration. */
const FREE = 20;
const WINDOW_MS = 60_000;
/**
 * Delay of a refusal in milliseconds, increased after each `LONGER_AFTER` refusals, at most `LONGEST` times. An address
 * then gets few responses per second, however many connections it opens.
 */
const DELAY_MS = 1_000;
const LONGER_AFTER = 500;
const LONGEST = 10;
/** Maximum responses per second after a burst of refusals, so that other requests run in between. */
const MOST_PER_SECOND = 2_000;
/** Maximum tracked addresses. Further ones are not delayed; all are forgotten at the next window. */
const MOST_ADDRESSES = 10_000;

export interface FailedKeysOptions {
  readonly clock: Clock;
  readonly counters: Counters;
  readonly log: Logger;
}

export class FailedKeys {
  readonly #options: FailedKeysOptions;
  /** Refusals in this window, by address. */
  readonly #failures = new Map<string, number>();
  #windowEndsAt = 0;
  readonly #held: HeldAnswers;

  constructor(options: FailedKeysOptions) {
    this.#options = options;
    this.#held = new HeldAnswers(options.clock);
  }

  /** Returns the response, delayed if it is a 401 from an address with too many failures. */
  look(answer: Response, connection: Connection): Response | Promise<Response> {
    return answer.status === 401 ? this.#refused(answer, connection) : answer;
  }

  #refused(answer: Response, connection: Connection): Response | Promise<Response> {
    const { counters } = this.#options;
    counters.add('failed_authentications');
    const delayMs = this.#delayMs(connection.address());
    if (delayMs === 0 || this.#held.isFull) return answer;
    counters.add('slowed_authentications');
    return this.#held.hold(answer, delayMs);
  }

  /** Counts a refusal. @returns the delay; 0: none */
  #delayMs(address: string | null): DurationMs {
    const { clock, log, counters } = this.#options;
    if (address === null) return 0;
    const now = clock.now();
    if (now >= this.#windowEndsAt) {
      this.#failures.clear();
      this.#windowEndsAt = now + WINDOW_MS;
    }
    const failures = (this.#failures.get(address) ?? 0) + 1;
    if (failures === 1 && this.#failures.size >= MOST_ADDRESSES) return 0;
    this.#failures.set(address, failures);
    // Logged once per window, so that an attacker cannot fill the log.
    if (failures === FREE + 1) {
      const facts = { address, failures, ...counters.read() };
      log.warn(
        'many keys from one address were rejected: responses to its failed attempts are delayed',
        facts,
      );
    }
    if (failures <= FREE) return 0;
    const delayMs = DELAY_MS * Math.min(LONGEST, 1 + Math.floor(failures / LONGER_AFTER));
    return delayMs + ((failures % MOST_PER_SECOND) * 1000) / MOST_PER_SECOND;
  }
}

// Responses that are held back for a moment. At most 10,000, about 1 kB each.

/** Maximum responses held at once; further ones are sent immediately. */
const MOST_HELD = 10_000;

class HeldAnswers {
  readonly #clock: Pick<Clock, 'after'>;
  #held = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** True when the maximum is reached. */
  get isFull(): boolean {
    return this.#held >= MOST_HELD;
  }

  /** @param delayMs greater than 0 @returns the response after the delay */
  hold(answer: Response, delayMs: DurationMs): Promise<Response> {
    this.#held += 1;
    return new Promise((resolve) => {
      this.#clock.after(delayMs, () => {
        this.#held -= 1;
        resolve(answer);
      });
    });
  }
}
