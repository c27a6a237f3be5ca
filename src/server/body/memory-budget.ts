// Accounting of memory that clients cause the process to hold, in bytes, in total and per key: incoming bodies, bodies
// of running requests, fetched and buffered data, messages, and output that clients have not read.
import { GatewayError } from '../../canonical/index.ts';

export interface BudgetLimits {
  /** Maximum bytes of all keys together. */
  readonly totalBytes: number;
  readonly perKeyBytes: number;
}

/** Retry delay for a refused client in milliseconds; bodies are released within seconds. */
const RETRY_MS = 1_000;

export class MemoryBudget {
  readonly #limits: () => BudgetLimits;
  /** Bytes by key, without keys that hold none. */
  readonly #byKey = new Map<string, number>();
  #total = 0;
  #refusals = 0;

  /** @param limits read at every request, because a reload may change them */
  constructor(limits: () => BudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes held by all keys. */
  get heldBytes(): number {
    return this.#total;
  }

  /** Number of refusals for lack of memory. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Opens an account for one request or connection. The caller must release it. */
  open(keyId: string): MemoryAccount {
    return new MemoryAccount(this, keyId);
  }

  /**
   * Reserves or releases bytes; only called by `MemoryAccount`.
   * @throws GatewayError 503 naming the limit; nothing is reserved
   */
  move(keyId: string, bytes: number): void {
    const own = (this.#byKey.get(keyId) ?? 0) + bytes;
    if (bytes > 0) this.#check(own, bytes);
    this.#total += bytes;
    if (own > 0) this.#byKey.set(keyId, own);
    else this.#byKey.delete(keyId);
  }

  #check(own: number, bytes: number): void {
    const { totalBytes, perKeyBytes } = this.#limits();
    if (own > perKeyBytes)
      throw this.#refuse('requests of this key', perKeyBytes, 'server.memory.share_per_key');
    if (this.#total + bytes > totalBytes)
      throw this.#refuse('requests of all keys', totalBytes, 'server.memory.bodies_mb');
  }

  #refuse(whose: string, limit: number, setting: string): GatewayError {
    this.#refusals += 1;
    return new GatewayError(
      'upstream_unavailable',
      `The memory limit of ${whose} is reached (${limit} bytes, ${setting}). Try again in a moment.`,
      { fault: 'gateway', httpStatus: 503, retryAfterMs: RETRY_MS, code: 'memory_budget' },
    );
  }
}

/** Bytes held by one request or connection. */
export class MemoryAccount {
  readonly #budget: MemoryBudget;
  readonly #keyId: string;
  #bytes = 0;
  #isOver = false;

  constructor(budget: MemoryBudget, keyId: string) {
    this.#budget = budget;
    this.#keyId = keyId;
  }

  /** Adds bytes; negative: releases them. @throws GatewayError 503 with `retry-after`; nothing changed */
  add(bytes: number): void {
    if (this.#isOver) return;
    this.#budget.move(this.#keyId, bytes);
    this.#bytes += bytes;
  }

  /** Sets the total bytes. @throws like `add` */
  set(bytes: number): void {
    this.add(bytes - this.#bytes);
  }

  /** Releases everything; later additions are ignored. May be called again. */
  release(): void {
    if (this.#bytes > 0) this.set(0);
    this.#isOver = true;
  }
}
