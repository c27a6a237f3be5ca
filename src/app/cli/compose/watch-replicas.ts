// Notices that other processes serve the same database while nothing shares limits among them: then each lets through what is
// configured, and together they let through more. Says so in the log, in `degraded`, and again where a limit is made.
import { hostname } from 'node:os';
import type { Config } from '../../config/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { ReplicaStore, Storage } from '../../../accounts/ports/index.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { UnixMs } from '../../../base/units.ts';

interface ReplicaParts {
  readonly config: Pick<Config, 'redisUrl'>;
  readonly storage: Pick<Storage, 'replicas'>;
  readonly clock: Pick<Clock, 'every'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Names this process, or the supervisor that shares limits among its workers, unlike all others. */
  readonly self?: string;
}

export interface WatchedReplicas {
  /** Looks now. Resolves when that is done; never rejects. */
  look(): Promise<void>;
  /** Faults, a sentence each. */
  degraded(): readonly string[];
  /** Limits were made or changed. */
  limitsChanged(): void;
  stop(): void;
}

/** How often each process says that it is there, and for how long that holds, in milliseconds. */
const SAY_MS = 10_000;
const HOLDS_MS = 30_000;
const SENTENCE =
  'other processes serve the same database and no `redis_url` is set: each counts limits and budgets by itself, so together they let through more. Give all of them one `redis_url`';

const NOBODY: WatchedReplicas = {
  look: () => Promise.resolve(),
  degraded: () => [],
  limitsChanged: () => {},
  stop: () => {},
};

/** @returns what does nothing where one file is the database, or limits are shared */
export function watchReplicas(parts: ReplicaParts): WatchedReplicas {
  const { replicas } = parts.storage;
  return replicas === null || parts.config.redisUrl !== null ? NOBODY : new Watching(parts, replicas);
}

/** Names the process that counts limits: that of a supervisor is the same for all its workers. */
export function counterName(isWorker: boolean): string {
  return `${hostname()} ${isWorker ? process.ppid : process.pid}`;
}

class Watching implements WatchedReplicas {
  readonly #log: ReplicaParts['log'];
  readonly #replicas: ReplicaStore;
  readonly #self: string;
  readonly #stop: () => void;
  #others = 0;
  /** Last message of each process, and whether it repeated it while this one looked. */
  #seen: ReadonlyMap<string, { readonly until: UnixMs; readonly isAlive: boolean }> = new Map();

  constructor({ log, clock, self = counterName(false) }: ReplicaParts, replicas: ReplicaStore) {
    this.#log = log;
    this.#replicas = replicas;
    this.#self = self;
    this.#stop = clock.every(SAY_MS, () => void this.look());
  }

  async look(): Promise<void> {
    try {
      const there = await this.#replicas.present(this.#self, HOLDS_MS);
      // One that was killed says nothing more: whoever takes its place is not warned of it.
      this.#seen = new Map(
        there.map(({ name, until }) => {
          const before = this.#seen.get(name);
          return [name, { until, isAlive: before !== undefined && (before.isAlive || until > before.until) }];
        }),
      );
      const before = this.#others;
      this.#others = this.#seen
        .values()
        .filter(({ isAlive }) => isAlive)
        .toArray().length;
      if (before === 0 && this.#others > 0) this.#warn();
    } catch {
      // A database that is away is told of by whoever needs it; the next look will tell.
    }
  }

  degraded(): readonly string[] {
    return this.#others > 0 ? [SENTENCE] : [];
  }

  limitsChanged(): void {
    if (this.#others > 0) this.#warn();
  }

  stop(): void {
    this.#stop();
  }

  #warn(): void {
    this.#log.warn(SENTENCE, { other_processes: this.#others });
  }
}
