// Idle connections, and who may use them again. A pool belongs to one provider and one credential, whatever addresses it
// has: an answer that nobody asked for can then reach nobody else, and says that none of the pool's connections is to be
// trusted. Knows nothing of HTTP; opens nothing.
import type { Clock } from '../base/runtime/clock.ts';
import type { Exchange } from './client.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

/** Owner of connections. */
export interface PoolName {
  /** Unique to what proves to the peer who is asking. */
  readonly id: string;
  /** For people: a provider, a tool. */
  readonly label: string;
}

export interface ReuseSettings {
  /** `key`: what one key of the gateway used, no other uses. `never`: each request has a connection of its own. */
  readonly reuse: 'provider' | 'key' | 'never';
  /** Greatest age of a connection that is used again. */
  readonly maxAgeMs: DurationMs;
  /** Most requests over one connection. */
  readonly maxRequests: number;
}

export const DEFAULT_REUSE: ReuseSettings = { reuse: 'provider', maxAgeMs: 300_000, maxRequests: 1000 };

/** A connection as its pool sees it. */
export interface PooledConnection {
  readonly pool: Pool;
  /** Origin that it is connected to. */
  readonly origin: string;
  readonly openedAt: UnixMs;
  /** Requests that were sent over it. */
  readonly requests: number;
  /** How often the pool had been distrusted when it was opened. */
  readonly trust: number;
  /** True once it cannot carry anything. */
  readonly isClosed: boolean;
  /** How often its pools had looked at idle connections when it became one. */
  idleSince: UnixMs;
  begin(exchange: Exchange): void;
  terminate(): void;
}

/** Connections to one place under one credential. */
export interface Pool {
  readonly name: PoolName;
  /** Null: for one request, after which its connection is closed. */
  readonly key: string | null;
  /** By origin; lists that become empty go. The last one was used last. */
  readonly idle: Map<string, PooledConnection[]>;
  /** Open connections, idle or not. */
  open: number;
  /** Connections that will be idle in the next turn of the loop, but for those that somebody waits for. */
  ending: number;
  /** How often something came that nobody had asked for. */
  trust: number;
  /** Unix milliseconds: until then nothing is used again. */
  carefulUntil: UnixMs;
}

/** How long a pool in which something was wrong uses no connection twice. */
const CAREFUL_MS = 60_000;
/** Idle connections to one place, and all together. */
const MAX_IDLE_PER_ORIGIN = 512;
const MAX_IDLE = 2048;
/**
 * How often idle connections are looked at, in milliseconds, and how many looks it takes to close one: it has been idle for
 * 20 to 30 seconds then, less than the idle limit of common servers and balancers. One timer for all, which runs while any
 * is idle: to set one for each costs each request two calls of the runtime.
 */
const LOOK_MS = 10_000;
const MOST_LOOKS = 3;
/** Pools that are remembered only because they are careful. */
const MAX_POOLS = 1024;

export interface PoolOptions {
  readonly now: () => UnixMs;
  readonly settings: () => ReuseSettings;
  /** For the looks at idle connections. */
  readonly every: Clock['every'];
  /** Called when a pool becomes careful. */
  readonly stray: (name: PoolName) => void;
}

export class ConnectionPools {
  readonly #options: PoolOptions;
  readonly #pools = new Map<string, Pool>();
  #idle = 0;
  /** How often idle connections were looked at. */
  #looks = 0;
  #stopLooking: (() => void) | undefined;
  /** Their answers ended in this turn of the loop: what follows closely behind them is not read yet. */
  #ended: PooledConnection[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * The pool in which a request finds its connection.
   * @param name absent: its connection is for this request alone
   * @param tenant key of the gateway on whose behalf it is sent
   */
  poolFor(name: PoolName | undefined, tenant: string | undefined): Pool {
    const { reuse } = this.#options.settings();
    if (!name || reuse === 'never') return newPool(name ?? NOBODY, null);
    const key = reuse === 'key' ? `${name.id}\n${tenant ?? ''}` : name.id;
    let pool = this.#pools.get(key);
    if (!pool) {
      if (this.#pools.size >= MAX_POOLS) this.#forgetCareful();
      pool = newPool(name, key);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** A connection that is ready; it is no longer idle then. */
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
   * Whether to wait where there is no idle connection: one is about to be, which costs less than a new one.
   * @param ready called in time
   */
  waitFor(pool: Pool, ready: () => void): boolean {
    if (pool.ending <= 0) return false;
    pool.ending--;
    // Twice, so that what arrived behind the last answer has been read by then.
    setImmediate(() => setImmediate(ready));
    return true;
  }

  /** Keeps a connection whose answer is complete. @returns false when it must not be used again */
  keep(connection: PooledConnection): boolean {
    if (!this.#isReusable(connection)) return false;
    connection.pool.ending++;
    if (this.#ended.push(connection) === 1) setImmediate(this.#turn);
    return true;
  }

  /** Bytes came over this connection that nobody asked for: none of its pool is used any more, for a while. */
  distrust({ pool }: PooledConnection): void {
    const now = this.#options.now();
    if (now >= pool.carefulUntil && pool.key !== null) this.#options.stray(pool.name);
    pool.trust++;
    pool.carefulUntil = now + CAREFUL_MS;
    const lists = [...pool.idle.values()];
    pool.idle.clear();
    for (const list of lists) {
      this.#idle -= list.length;
      for (const each of list) each.terminate();
    }
  }

  /** A connection was opened, or at least begun. */
  opened({ pool }: PooledConnection): void {
    pool.open++;
    // The last connection of a pool may have been too old just now, and the pool been forgotten with it.
    if (pool.key !== null) this.#pools.set(pool.key, pool);
  }

  /** Forgets a connection that was closed. */
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
    if (pool.key !== null && pool.open === 0 && this.#options.now() >= pool.carefulUntil)
      this.#pools.delete(pool.key);
  }

  /** Closes every idle connection. */
  close(): void {
    const all = this.#ended.splice(0);
    for (const { idle } of this.#pools.values()) for (const list of idle.values()) all.push(...list);
    for (const connection of all) connection.terminate();
    this.#rest();
  }

  /** How many pools, lists and idle connections there are. */
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
      now >= pool.carefulUntil
    );
  }

  /** Bytes that arrived before the next request are read before it, too. */
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

  /** Closes what was idle for too long. */
  #look(): void {
    if (this.#idle === 0) return this.#rest();
    this.#looks++;
    for (const { idle } of this.#pools.values())
      for (const [origin, list] of idle) {
        // The connections that have waited longest stand first.
        const waiting = list.findIndex(({ idleSince }) => this.#looks - idleSince < MOST_LOOKS);
        const overdue = waiting < 0 ? list.splice(0) : list.splice(0, waiting);
        this.#idle -= overdue.length;
        if (list.length === 0) idle.delete(origin);
        for (const connection of overdue) connection.terminate();
      }
  }

  /** Nothing is idle: the next connection that is has it looked at again. */
  #rest(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /** Makes room at the cost of the pool that has been there longest. */
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

  #forgetCareful(): void {
    for (const [key, pool] of this.#pools) if (pool.open === 0) this.#pools.delete(key);
  }
}

const NOBODY: PoolName = { id: '', label: 'nobody' };

function newPool(name: PoolName, key: string | null): Pool {
  return { name, key, idle: new Map(), open: 0, ending: 0, trust: 0, carefulUntil: 0 };
}
