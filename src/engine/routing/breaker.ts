// Circuit breaker of an endpoint: avoids it while it keeps failing, then tests it with one request at a time. Rate
// limits are handled elsewhere.
import type { ErrorKind } from '../../canonical/index.ts';
import type { BreakerSettings } from './settings.ts';
import { SlidingCount } from './fading-measures.ts';
import type { Availability } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export const CLOSED: Availability = { state: 'closed', until: null, reason: null };

/** Ticket of one attempt. Its outcome counts only if it began after the breaker last opened. */
export interface BreakerTicket {
  readonly opening: number;
}

/**
 * Closed: counts completed and failed attempts of the last `windowMs`. Opens at a failure when there are at least
 * `failures` failures, and no fewer than completions. Open: waits `openMs`. Half-open: admits one attempt at a time.
 * Its first content or completion closes the breaker and resets the counts; its failure opens it again. Attempts that
 * began before the last opening are ignored. An attempt sent while it was open, because nothing better was available,
 * closes it on success.
 */
export class Breaker {
  readonly #settings: () => BreakerSettings;
  readonly #failures = new SlidingCount();
  readonly #successes = new SlidingCount();
  #openings = 0;
  /** True when another process opened it. */
  #isForeign = false;
  /** Null when closed. */
  #open: Availability | null = null;
  #halfOpen: Availability = CLOSED;
  #until = 0;
  /** The single attempt of the half-open state. */
  #trial: BreakerTicket | null = null;

  constructor(settings: () => BreakerSettings) {
    this.#settings = settings;
  }

  availability(nowMs: UnixMs): Availability {
    if (!this.#open) return CLOSED;
    return nowMs < this.#until ? this.#open : this.#halfOpen;
  }

  /** True when an attempt may begin now. @param nowMs Unix milliseconds */
  admits(nowMs: UnixMs): boolean {
    return !this.#open || (nowMs >= this.#until && !this.#trial);
  }

  /** Begins an attempt. @param nowMs Unix milliseconds */
  enter(nowMs: UnixMs): BreakerTicket {
    const ticket = { opening: this.#openings };
    if (this.#open && this.admits(nowMs)) this.#trial = ticket;
    return ticket;
  }

  /** The attempt received content. */
  showedContent(ticket: BreakerTicket): void {
    if (this.#open && ticket.opening === this.#openings) this.reset();
  }

  /** Closes the breaker and resets its counts. */
  reset(): void {
    this.#open = null;
    this.#isForeign = false;
    this.#trial = null;
    this.#failures.clear();
    this.#successes.clear();
  }

  /**
   * Another process's breaker opened. Opens this one too, unless most recent attempts here succeeded, because the cause
   * may be that process's own network path.
   * @param forMs remaining milliseconds
   */
  openedRemotely(forMs: DurationMs, reason: string, nowMs: UnixMs): void {
    const { windowMs, openMs } = this.#settings();
    if (this.#open && nowMs < this.#until) return;
    const successes = this.#successes.total(nowMs, windowMs);
    if (successes > 0 && successes >= this.#failures.total(nowMs, windowMs)) return;
    this.#openFor(Math.min(forMs, openMs), nowMs, reason);
    this.#isForeign = true;
  }

  /** Another process's breaker closed. Does not affect failures seen by this process. */
  closedRemotely(): void {
    if (this.#isForeign) this.reset();
  }

  /** The attempt ended without information about the endpoint. */
  leave(ticket: BreakerTicket): void {
    if (this.#trial === ticket) this.#trial = null;
  }

  /** The attempt completed. @param nowMs Unix milliseconds */
  succeeded(ticket: BreakerTicket, nowMs: UnixMs): void {
    this.showedContent(ticket);
    if (ticket.opening === this.#openings) this.#successes.add(nowMs, this.#settings().windowMs);
  }

  /** The attempt failed through the endpoint's fault. @param nowMs Unix milliseconds */
  failed(ticket: BreakerTicket, kind: ErrorKind, nowMs: UnixMs): void {
    if (ticket.opening !== this.#openings) return;
    const { failures: enough, windowMs, openMs } = this.#settings();
    if (this.#open) {
      if (this.#trial === ticket) this.#openFor(openMs, nowMs, `failed again in a trial request (${kind})`);
      return;
    }
    this.#failures.add(nowMs, windowMs);
    const failures = this.#failures.total(nowMs, windowMs);
    if (failures < enough || failures < this.#successes.total(nowMs, windowMs)) return;
    this.#openFor(openMs, nowMs, `${failures} failures in ${windowMs / 1000} s (${kind})`);
  }

  #openFor(openMs: DurationMs, nowMs: UnixMs, reason: string): void {
    this.#openings += 1;
    this.#isForeign = false;
    this.#trial = null;
    this.#until = nowMs + openMs;
    this.#open = { state: 'open', until: this.#until, reason };
    this.#halfOpen = { state: 'half-open', until: this.#until, reason };
  }
}
