// Logs refused sign-ins to the management API, up to a limit. Delaying refusals is done elsewhere, for all keys.
import type { GatewayError } from '../../canonical/index.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum lines per window, so that an attacker cannot fill the log. */
const MOST_LINES = 20;
const WINDOW_MS = 60_000;

export class RefusedSignIns {
  readonly #log: Logger;
  #windowEndsAt = 0;
  #lines = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param address client address; null: it has disconnected @param nowMs Unix milliseconds */
  note({ message }: GatewayError, address: string | null, nowMs: UnixMs): void {
    if (nowMs >= this.#windowEndsAt) {
      this.#windowEndsAt = nowMs + WINDOW_MS;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > MOST_LINES) return;
    const rest = this.#lines === MOST_LINES ? '; further ones are not logged for one minute' : '';
    this.#log.warn(`a sign-in to the management API was refused${rest}`, { address, reason: message });
  }
}
