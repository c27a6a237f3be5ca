// Port of processes that share one database; a part of the port of storage.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Another process on the same database. */
export interface OtherReplica {
  /** Names the process. */
  readonly name: string;
  /** Unix milliseconds by the database's clock: it is taken for gone then. A later time shows that it said so again. */
  readonly until: UnixMs;
}

export interface ReplicaStore {
  /**
   * Says that a process is there, and forgets those that are gone.
   * @param forMs milliseconds for which that holds
   * @returns all others that are there
   */
  present(self: string, forMs: DurationMs): Promise<readonly OtherReplica[]>;
}
