// Slows those who try keys: after many refused keys from one address, further refusals from there take longer. A right key
// is never slowed, for addresses are shared. Knows no key.
import type { Clock } from '../base/runtime/clock.ts';
import type { Connection } from '../base/runtime/http-server.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { DurationMs } from '../base/units.ts';

/** Refusals of one address within the window that are answered at once: somebody corrects a configuration. */
const FREE = 20;
const WINDOW_MS = 60_000;
/** How long a refusal is held back, in milliseconds: longer after so many more of them, up to so many times. An address then
 * gets few answers in a second, however many connections it opens. */
const DELAY_MS = 1_000;
const LONGER_AFTER = 500;
const LONGEST = 10;
/** Refusals that came at once are answered one after another, so many to a second: others have their turns in between. */
const SPREAD = 2_000;
/** Addresses that are remembered; those beyond go unslowed, and the next window begins anew. */
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

  /** The answer, when it may be sent: refusals of keys are counted and slowed. */
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

  /** Counts a refusal. @returns how long it is held back; 0: not at all */
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
    // Once in a window: whoever tries keys must not fill the log.
    if (failures === FREE + 1) {
      const facts = { address, failures, ...counters.read() };
      log.warn('many keys from one address were refused: refusals to it are slowed', facts);
    }
    if (failures <= FREE) return 0;
    const delayMs = DELAY_MS * Math.min(LONGEST, 1 + Math.floor(failures / LONGER_AFTER));
    return delayMs + ((failures % SPREAD) * 1000) / SPREAD;
  }
}

// Answers that are ready and sent a little later. So many at most: each is about a kilobyte. Knows not why.

/** Answers that are held back at once; what is beyond is sent at once. */
const MOST_HELD = 10_000;

class HeldAnswers {
  readonly #clock: Pick<Clock, 'after'>;
  #held = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** True where no more can be held. */
  get isFull(): boolean {
    return this.#held >= MOST_HELD;
  }

  /** @param delayMs more than 0 @returns the answer, when it may be sent */
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
