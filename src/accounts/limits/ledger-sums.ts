// Port of the ledger's sums, from which limits are restored.
import type { Owner } from './scope.ts';
import type { UnixMs } from '../../base/units.ts';

export interface SumQuery {
  /** Kind of owner by which the sums are grouped. */
  readonly by: Owner['kind'];
  /** Ids of the owners; absent: all. */
  readonly owners?: readonly string[] | undefined;
  /** True: one sum per end user. */
  readonly byEndUser: boolean;
  /** Sums requests admitted since then, including future ones after the clock was set back. */
  readonly fromMs: UnixMs;
  /** True: sums of spans of at most an hour. False: one sum of the whole time. */
  readonly inSlices: boolean;
}

/** Sum of an owner's requests for one model. */
export interface LedgerSum {
  /** Empty for the gateway. */
  readonly ownerId: string;
  /** Hash of the end user; null: none, or not requested. */
  readonly endUser: string | null;
  /** Names of the model for comparison in limits. The ledger itself stores only the id. */
  readonly model: string;
  /** Slug of the endpoint that answered; empty: unknown. */
  readonly endpoint: string;
  /** Time at which the last of them was admitted, rounded up to at most the end of its hour. */
  readonly atMs: UnixMs;
  /** Requests as counted by limits: each turn of an answer; failed ones without charge are not counted. */
  readonly requests: number;
  readonly tokens: number;
  /** Cost in nano-dollars. Requests with unknown cost add 0. */
  readonly nanoUsd: number;
}

export interface LedgerSums {
  /** Reads the sums in batches and in any order, without owners that have no requests. */
  read(query: SumQuery): AsyncIterable<readonly LedgerSum[]>;
}
