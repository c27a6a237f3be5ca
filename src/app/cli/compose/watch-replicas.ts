// Detects other processes on the same database without shared limits, where each admits the configured amount
// separately. Reports it in the log, in `degraded`, and when limits change.
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
  /** Unique name of this process, or of the supervisor that shares limits among its workers. */
  readonly self?: string;
}

export interface WatchedReplicas {
  /** Checks now. Never rejects. */
  look(): Promise<void>;
  /** Problems, one sentence each. */
  degraded(): readonly string[];
  /** Limits were made or changed. */
  limitsChanged(): void;
  stop(): void;
}

/** Interval and lifetime of each process's presence message, in milliseconds. */
const PRESENCE_MS = 10_000;
const PRESENCE_TTL_MS = 30_000;
const SENTENCE =
  'other processes use the same database, but `redis_url` is not set: each process counts limits and budgets separately, so that their sum can exceed a limit. Set the same `redis_url` for all processes';

const NO_REPLICAS: WatchedReplicas = {
  look: () => Promise.resolve(),
  degraded: () => [],
  limitsChanged: () => {},
  stop: () => {},
};

/** @returns an inactive watcher if the database is a single file, or limits are shared */
export function watchReplicas(parts: ReplicaParts): WatchedReplicas {
  const { replicas } = parts.storage;
  return replicas === null || parts.config.redisUrl !== null ? NO_REPLICAS : new Watching(parts, replicas);
}

/** Name of the process that counts limits. All workers of a supervisor have its name. */
export function counterName(isWorker: boolean): string {
  return `${hostname()} ${isWorker ? process.ppid : process.pid}`;
}

class Watching implements WatchedReplicas {
  readonly #log: ReplicaParts['log'];
  readonly #replicas: ReplicaStore;
  readonly #self: string;
  readonly #stop: () => void;
  #others = 0;
  /** Last message of each process, and whether it was renewed since. */
  #seen: ReadonlyMap<string, { readonly until: UnixMs; readonly isAlive: boolean }> = new Map();

  constructor({ log, clock, self = counterName(false) }: ReplicaParts, replicas: ReplicaStore) {
    this.#log = log;
    this.#replicas = replicas;
    this.#self = self;
    this.#stop = clock.every(PRESENCE_MS, () => void this.look());
  }

  async look(): Promise<void> {
    try {
      const there = await this.#replicas.present(this.#self, PRESENCE_TTL_MS);
      // A killed process sends nothing more, and its successor must not be warned about it.
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
      // Other code reports that the database is unavailable; the next check tries again.
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
