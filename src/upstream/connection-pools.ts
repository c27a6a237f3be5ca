// Pools of idle connections. A pool belongs to one provider and one credential across addresses: unsolicited bytes then
// cannot reach other clients, and make all connections of the pool untrusted. Opens no connections itself.
import type { Clock } from '../base/runtime/clock.ts';
import type { Exchange } from './client.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

/** Owner of connections. */
export interface PoolName {
  /** Unique per identity that the peer sees. */
  readonly id: string;
  /** Display name: a provider or tool. */
  readonly label: string;
}

export interface ReuseSettings {
  /** `key`: connections are not shared between gateway keys. `never`: each request uses its own connection. */
  readonly reuse: 'provider' | 'key' | 'never';
  /** Maximum age of a reused connection. */
  readonly maxAgeMs: DurationMs;
  /** Maximum requests per connection. */
  readonly maxRequests: number;
}

export const DEFAULT_REUSE: ReuseSettings = { reuse: 'provider', maxAgeMs: 300_000, maxRequests: 1000 };

/** A connection as seen by its pool. */
export interface PooledConnection {
  readonly pool: Pool;
  /** Origin that it is connected to. */
  readonly origin: string;
  readonly openedAt: UnixMs;
  /** Number of requests sent over it. */
  readonly requests: number;
  /** Trust counter of the pool when it was opened. */
  readonly trust: number;
  /** True once it is unusable. */
  readonly isClosed: boolean;
  /** Value of the check counter when it became idle. */
  idleSince: UnixMs;
  begin(exchange: Exchange): void;
  terminate(): void;
}

/** Connections to one provider with one credential. */
export interface Pool {
  readonly name: PoolName;
  /** Null: for one request, after which its connection is closed. */
  readonly key: string | null;
  /** By origin, without empty lists. The most recently used is last. */
  readonly idle: Map<string, PooledConnection[]>;
  /** Number of open connections. */
  open: number;
  /** Connections that become idle in the next turn of the event loop, minus those already claimed. */
  ending: number;
  /** Number of times that unsolicited bytes arrived. */
  trust: number;
  /** Unix milliseconds until which no connection is reused. */
  noReuseUntil: UnixMs;
}

/** Time for which a pool does not reuse connections after unsolicited bytes. */
const NO_REUSE_MS = 60_000;
/** Maximum idle connections per origin, and in total. */
const MAX_IDLE_PER_ORIGIN = 512;
const MAX_IDLE = 2048;
/**
 * Interval in milliseconds at which idle connections are checked, and number of checks after which one is closed. It
 * was then idle for 20 to 30 seconds, less than the idle timeout of common servers and load balancers. One timer is
 * shared, because setting one per connection costs each request two runtime calls.
 */
const LOOK_MS = 10_000;
const MOST_LOOKS = 3;
/** Maximum pools that are kept only because of unsolicited bytes. */
const MAX_POOLS = 1024;

export interface PoolOptions {
  readonly now: () => UnixMs;
  readonly settings: () => ReuseSettings;
  /** Timer for checking idle connections. */
  readonly every: Clock['every'];
  /** Called when a pool stops reusing connections. */
  readonly onUnsolicited: (name: PoolName) => void;
}

export class ConnectionPools {
  readonly #options: PoolOptions;
  readonly #pools = new Map<string, Pool>();
  #idle = 0;
  /** Number of checks so far. */
  #looks = 0;
  #stopLooking: (() => void) | undefined;
  /** Connections whose answers ended in this turn of the event loop; bytes that follow were not read yet. */
  #ended: PooledConnection[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * The pool for a request.
   * @param name absent: the connection is for this request only
   * @param tenant gateway key that the request is sent for
   */
  poolFor(name: PoolName | undefined, tenant: string | undefined): Pool {
    const { reuse } = this.#options.settings();
    if (!name || reuse === 'never') return newPool(name ?? NO_POOL, null);
    const key = reuse === 'key' ? `${name.id}\n${tenant ?? ''}` : name.id;
    let pool = this.#pools.get(key);
    if (!pool) {
      if (this.#pools.size >= MAX_POOLS) this.#deleteEmptyPools();
      pool = newPool(name, key);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** Takes a usable idle connection out of the pool. */
  take(pool: Pool, origin: string): PooledConnection | undefined {
    const list = pool.idle.get(origin);
    if (!list) return undefined;
    for (let found = list.pop(); found; found = list.pop()) {
      this.#idle--;
      if (list.length === 0) pool.idle.delete(origin);
      if (this.#isReusable(found)) return found;
      found.terminate();
    }
    return undefined;
  }

  /**
   * Waits for a connection that is about to become idle, which costs less than a new one. False: there is none.
   * @param ready called when it is available
   */
  waitFor(pool: Pool, ready: () => void): boolean {
    if (pool.ending <= 0) return false;
    pool.ending--;
    // Twice, so that bytes after the last answer have been read by then.
    setImmediate(() => setImmediate(ready));
    return true;
  }

  /** Keeps a connection whose answer is complete. @returns false when it must not be reused */
  keep(connection: PooledConnection): boolean {
    if (!this.#isReusable(connection)) return false;
    connection.pool.ending++;
    if (this.#ended.push(connection) === 1) setImmediate(this.#turn);
    return true;
  }

  /** Unsolicited bytes arrived: stops reusing connections of the pool for some time. */
  stopReuse({ pool }: PooledConnection): void {
    const now = this.#options.now();
    if (now >= pool.noReuseUntil && pool.key !== null) this.#options.onUnsolicited(pool.name);
    pool.trust++;
    pool.noReuseUntil = now + NO_REUSE_MS;
    const lists = [...pool.idle.values()];
    pool.idle.clear();
    for (const list of lists) {
      this.#idle -= list.length;
      for (const each of list) each.terminate();
    }
  }

  /** Registers a connection that was opened or begun. */
  opened({ pool }: PooledConnection): void {
    pool.open++;
    // The pool may have been dropped when its last connection became too old.
    if (pool.key !== null) this.#pools.set(pool.key, pool);
  }

  /** Removes a closed connection. */
  closed(connection: PooledConnection): void {
    const { pool, origin } = connection;
    pool.open--;
    const list = pool.idle.get(origin);
    const at = list?.indexOf(connection) ?? -1;
    if (list && at >= 0) {
      list.splice(at, 1);
      this.#idle--;
      if (list.length === 0) pool.idle.delete(origin);
    }
    if (pool.key !== null && pool.open === 0 && this.#options.now() >= pool.noReuseUntil)
      this.#pools.delete(pool.key);
  }

  /** Closes every idle connection. */
  close(): void {
    const all = this.#ended.splice(0);
    for (const { idle } of this.#pools.values()) for (const list of idle.values()) all.push(...list);
    for (const connection of all) connection.terminate();
    this.#rest();
  }

  /** Number of pools, origins and idle connections. */
  get size(): { readonly pools: number; readonly origins: number; readonly idle: number } {
    let origins = 0;
    for (const { idle } of this.#pools.values()) origins += idle.size;
    return { pools: this.#pools.size, origins, idle: this.#idle };
  }

  #isReusable({ pool, openedAt, requests, trust }: PooledConnection): boolean {
    const { reuse, maxAgeMs, maxRequests } = this.#options.settings();
    const now = this.#options.now();
    return (
      pool.key !== null &&
      reuse !== 'never' &&
      requests < maxRequests &&
      now - openedAt < maxAgeMs &&
      trust === pool.trust &&
      now >= pool.noReuseUntil
    );
  }

  /** Waits a turn, so that bytes which arrived before the next request are also read before it. */
  readonly #turn = (): void => {
    for (const connection of this.#ended.splice(0)) {
      connection.pool.ending = 0;
      this.#ready(connection);
    }
  };

  #ready(connection: PooledConnection): void {
    if (connection.isClosed) return;
    const { pool, origin } = connection;
    let list = pool.idle.get(origin);
    if (!this.#isReusable(connection) || (list && list.length >= MAX_IDLE_PER_ORIGIN))
      return connection.terminate();
    if (this.#idle >= MAX_IDLE) this.#closeOldest();
    if (!list) pool.idle.set(origin, (list = []));
    connection.idleSince = this.#looks;
    list.push(connection);
    this.#idle++;
    this.#stopLooking ??= this.#options.every(LOOK_MS, () => this.#look());
  }

  /** Closes connections that were idle for too long. */
  #look(): void {
    if (this.#idle === 0) return this.#rest();
    this.#looks++;
    for (const { idle } of this.#pools.values())
      for (const [origin, list] of idle) {
        // The longest idle connections come first.
        const waiting = list.findIndex(({ idleSince }) => this.#looks - idleSince < MOST_LOOKS);
        const overdue = waiting < 0 ? list.splice(0) : list.splice(0, waiting);
        this.#idle -= overdue.length;
        if (list.length === 0) idle.delete(origin);
        for (const connection of overdue) connection.terminate();
      }
  }

  /** Stops the timer when nothing is idle; the next idle connection restarts it. */
  #rest(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /** Closes an idle connection of the oldest pool to free capacity. */
  #closeOldest(): void {
    for (const { idle } of this.#pools.values()) {
      for (const [origin, list] of idle) {
        const oldest = list.shift();
        if (list.length === 0) idle.delete(origin);
        if (!oldest) continue;
        this.#idle--;
        return oldest.terminate();
      }
    }
  }

  #deleteEmptyPools(): void {
    for (const [key, pool] of this.#pools) if (pool.open === 0) this.#pools.delete(key);
  }
}

const NO_POOL: PoolName = { id: '', label: 'nobody' };

function newPool(name: PoolName, key: string | null): Pool {
  return { name, key, idle: new Map(), open: 0, ending: 0, trust: 0, noReuseUntil: 0 };
}
