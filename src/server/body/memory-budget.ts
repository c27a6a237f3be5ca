// Memory that clients may make the process hold, in bytes, together and per key: bodies that arrive, bodies of requests that are
// being answered, what is fetched, collected and held back for them, messages, and what waits for clients who do not read.
// Counts; holds nothing itself.
import { GatewayError } from '../../canonical/index.ts';

export interface BudgetLimits {
  /** Bytes of all keys together. */
  readonly totalBytes: number;
  readonly perKeyBytes: number;
}

/** How long a client shall wait that was refused, in milliseconds: bodies come and go within seconds. */
const RETRY_MS = 1_000;

export class MemoryBudget {
  readonly #limits: () => BudgetLimits;
  /** Bytes by key; keys that hold none are not in it. */
  readonly #byKey = new Map<string, number>();
  #total = 0;
  #refusals = 0;

  /** @param limits asked at every request, since a reload may change them */
  constructor(limits: () => BudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that all keys hold. */
  get heldBytes(): number {
    return this.#total;
  }

  /** How often there was no room. */
  get refusals(): number {
    return this.#refusals;
  }

  /** An account of one request or connection, with nothing on it. Whoever opens it must release it. */
  open(keyId: string): Hold {
    return new Hold(this, keyId);
  }

  /** Takes or gives back; only a `Hold` calls it. @throws GatewayError 503 naming the limit, with nothing taken */
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
      `the ${whose} that are being read or answered hold as much memory as they may (${limit} bytes, ${setting}); try again in a moment`,
      { fault: 'gateway', httpStatus: 503, retryAfterMs: RETRY_MS, code: 'memory_budget' },
    );
  }
}

/** Bytes that one request or connection holds. */
export class Hold {
  readonly #budget: MemoryBudget;
  readonly #keyId: string;
  #bytes = 0;
  #isOver = false;

  constructor(budget: MemoryBudget, keyId: string) {
    this.#budget = budget;
    this.#keyId = keyId;
  }

  /** Holds so many bytes more; fewer, where it is negative. @throws GatewayError 503 with `retry-after`; nothing changed */
  add(bytes: number): void {
    if (this.#isOver) return;
    this.#budget.move(this.#keyId, bytes);
    this.#bytes += bytes;
  }

  /** Holds so many bytes in all. @throws like `add` */
  set(bytes: number): void {
    this.add(bytes - this.#bytes);
  }

  /** Gives everything back; what is added afterwards counts no more. May be called again. */
  release(): void {
    if (this.#bytes > 0) this.set(0);
    this.#isOver = true;
  }
}
