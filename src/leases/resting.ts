// Leases that nobody asks for. The store is told what was used under each as its process lets go of it, and once more where it
// has lost that: of a rate nobody else knows.
import type { HeldLease } from './held-lease.ts';

/** Rates that are kept at least, before those of which nothing is used any more are looked for. */
const LEAST_KEPT = 64;

export class Resting {
  /** By name: rates of which something is used, as far as was looked. */
  readonly #rates = new Map<string, HeldLease>();
  /** By name: what the store has not heard. */
  readonly #untold = new Map<string, HeldLease>();
  #mostKept = LEAST_KEPT;

  /** True where the store has something to hear. */
  get hasUntold(): boolean {
    return this.#untold.size > 0;
  }

  /** @param nowMs Unix milliseconds */
  add(lease: HeldLease, nowMs: number): void {
    this.#untold.set(lease.name, lease);
    if (!lease.isRate) return;
    this.#rates.set(lease.name, lease);
    if (this.#rates.size > this.#mostKept) this.#forgetFree(nowMs);
  }

  find(name: string): HeldLease | undefined {
    return this.#rates.get(name) ?? this.#untold.get(name);
  }

  /** It is asked for again, or its counter is gone. */
  remove(lease: HeldLease): void {
    for (const leases of [this.#rates, this.#untold])
      if (leases.get(lease.name) === lease) leases.delete(lease.name);
  }

  /** The store has lost what it was told. @param nowMs Unix milliseconds */
  tellAgain(nowMs: number): void {
    this.#forgetFree(nowMs);
    for (const lease of this.#rates.values()) this.#untold.set(lease.name, lease);
  }

  /** @returns those of which the store has to hear, at most so many */
  untold(most: number): readonly HeldLease[] {
    return this.#untold.values().take(most).toArray();
  }

  /** The store has heard of them. */
  told(leases: readonly HeldLease[]): void {
    for (const lease of leases) if (this.#untold.get(lease.name) === lease) this.#untold.delete(lease.name);
  }

  #forgetFree(nowMs: number): void {
    for (const lease of this.#rates.values()) if (lease.counter.used(nowMs) === 0) this.remove(lease);
    this.#mostKept = Math.max(LEAST_KEPT, 2 * this.#rates.size);
  }
}
