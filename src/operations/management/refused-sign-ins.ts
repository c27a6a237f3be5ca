// Tells the log of those who tried to manage and may not: each of them, as long as they are few. Slows nobody; that is done
// for all refused keys alike.
import type { GatewayError } from '../../canonical/index.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { UnixMs } from '../../base/units.ts';

/** Lines in one window: whoever tries keys must not fill the log. */
const MOST_LINES = 20;
const WINDOW_MS = 60_000;

export class RefusedSignIns {
  readonly #log: Logger;
  #windowEndsAt = 0;
  #lines = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param address where they are; null when they have left @param nowMs Unix milliseconds */
  note({ message }: GatewayError, address: string | null, nowMs: UnixMs): void {
    if (nowMs >= this.#windowEndsAt) {
      this.#windowEndsAt = nowMs + WINDOW_MS;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > MOST_LINES) return;
    const rest = this.#lines === MOST_LINES ? '; further ones are not told for a minute' : '';
    this.#log.warn(`a sign-in to the management API was refused${rest}`, { address, reason: message });
  }
}
