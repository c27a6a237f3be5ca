// What is told of a request once it is over, to whoever watches: metrics, traces, alerts. Neither the request nor its
// answer waits for them.
import type { Principal } from '../auth/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';

/** A request that is over, with what its records do not say. */
export interface Settlement {
  readonly generation: GenerationRecord;
  /** In their order. */
  readonly attempts: readonly AttemptRecord[];
  /** The gateway's id of the model of each attempt. */
  readonly models: readonly string[];
  /** Who asked. */
  readonly principal: Principal;
  /** What the ledger said instead of writing it; undefined where it did write it. */
  readonly unrecorded?: unknown;
}

export interface SettlementObserver {
  /** A request is over. Called once for each; takes microseconds, and never throws. */
  settled(settlement: Settlement): void;
}
