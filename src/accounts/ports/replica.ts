// Port of the list of processes that share a database.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Another process on the same database. */
export interface OtherReplica {
  /** Name of the process. */
  readonly name: string;
  /** Unix milliseconds by the database's clock at which the process counts as dead. Increases with each heartbeat. */
  readonly until: UnixMs;
}

export interface ReplicaStore {
  /**
   * Sends a heartbeat, and removes dead processes.
   * @param forMs milliseconds until the process counts as dead
   * @returns all other live processes
   */
  present(self: string, forMs: DurationMs): Promise<readonly OtherReplica[]>;
}
