// Leaves an endpoint alone that keeps failing, and finds out with one request at a time whether it is sound again.
// Does not decide whose fault a failure was, and knows nothing of rate limits.
import type { ErrorKind } from '../../canonical/index.ts';
import type { BreakerSettings } from './settings.ts';
import { SlidingCount } from './fading-measures.ts';
import type { Standing } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export const CLOSED: Standing = { state: 'closed', until: null, reason: null };

/** Ticket of one attempt. Its outcome counts only when it began after the breaker last opened. */
export interface BreakerTicket {
  readonly opening: number;
}

/**
 * Closed, it counts completed and failed attempts in the last `windowMs`, and opens at a failure when there are at
 * least `failures` of them and no fewer than completed ones. Open, it waits `openMs`. Then, half-open, it admits one
 * attempt at a time: the first content or the completion of one closes it and empties the counts, a failure opens it
 * again. Attempts that began before the last opening change nothing any more: what they show is old. One that was
 * sent while it was open, for want of anything better, closes it when it succeeds.
 */
export class Breaker {
  readonly #settings: () => BreakerSettings;
  readonly #failures = new SlidingCount();
  readonly #successes = new SlidingCount();
  #openings = 0;
  /** True where it was another process that opened it. */
  #isForeign = false;
  /** Null when closed. */
  #open: Standing | null = null;
  #halfOpen: Standing = CLOSED;
  #until = 0;
  /** The attempt that has the one place of the half-open state. */
  #trial: BreakerTicket | null = null;

  constructor(settings: () => BreakerSettings) {
    this.#settings = settings;
  }

  standing(nowMs: UnixMs): Standing {
    if (!this.#open) return CLOSED;
    return nowMs < this.#until ? this.#open : this.#halfOpen;
  }

  /** May an attempt begin now? @param nowMs Unix milliseconds */
  admits(nowMs: UnixMs): boolean {
    return !this.#open || (nowMs >= this.#until && !this.#trial);
  }

  /** An attempt begins. @param nowMs Unix milliseconds */
  enter(nowMs: UnixMs): BreakerTicket {
    const ticket = { opening: this.#openings };
    if (this.#open && this.admits(nowMs)) this.#trial = ticket;
    return ticket;
  }

  /** The attempt has shown content. */
  showedContent(ticket: BreakerTicket): void {
    if (this.#open && ticket.opening === this.#openings) this.reset();
  }

  /** Closes it, and forgets what was counted. */
  reset(): void {
    this.#open = null;
    this.#isForeign = false;
    this.#trial = null;
    this.#failures.clear();
    this.#successes.clear();
  }

  /**
   * It has opened in another process. Opens here, too, unless most attempts of this one were good lately: what fails there may
   * be that process's own way to the endpoint. @param forMs milliseconds that are left of it
   */
  openedRemotely(forMs: DurationMs, reason: string, nowMs: UnixMs): void {
    const { windowMs, openMs } = this.#settings();
    if (this.#open && nowMs < this.#until) return;
    const successes = this.#successes.total(nowMs, windowMs);
    if (successes > 0 && successes >= this.#failures.total(nowMs, windowMs)) return;
    this.#openFor(Math.min(forMs, openMs), nowMs, reason);
    this.#isForeign = true;
  }

  /** Another process has found out that it is sound again: says nothing of what this one has seen itself. */
  closedRemotely(): void {
    if (this.#isForeign) this.reset();
  }

  /** The attempt ended without saying anything about the endpoint. */
  leave(ticket: BreakerTicket): void {
    if (this.#trial === ticket) this.#trial = null;
  }

  /** The attempt was complete. @param nowMs Unix milliseconds */
  succeeded(ticket: BreakerTicket, nowMs: UnixMs): void {
    this.showedContent(ticket);
    if (ticket.opening === this.#openings) this.#successes.add(nowMs, this.#settings().windowMs);
  }

  /** The attempt failed by the endpoint's fault. @param nowMs Unix milliseconds */
  failed(ticket: BreakerTicket, kind: ErrorKind, nowMs: UnixMs): void {
    if (ticket.opening !== this.#openings) return;
    const { failures: enough, windowMs, openMs } = this.#settings();
    if (this.#open) {
      if (this.#trial === ticket) this.#openFor(openMs, nowMs, `failed again when tried (${kind})`);
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
