// Sums that limits ask of a ledger. Knows no database.
import type { Owner } from './scope.ts';
import type { UnixMs } from '../../base/units.ts';

export interface SumQuery {
  /** Kind of owner by which the sums are grouped. */
  readonly by: Owner['kind'];
  /** Ids of those of whom alone it is asked; absent: of all. */
  readonly owners?: readonly string[] | undefined;
  /** True: one for each end user of those. */
  readonly byEndUser: boolean;
  /** Requests admitted from here on, also in what is the future after a clock was set back. */
  readonly fromMs: UnixMs;
  /** True: sums of short spans, an hour at most, each with its end. False: of all the time together. */
  readonly inSlices: boolean;
}

/** Sum of one owner's requests for one model. */
export interface LedgerSum {
  /** Empty for the gateway as a whole. */
  readonly ownerId: string;
  /** Hash of the end user; null where requests named none, or where it was not asked for. */
  readonly endUser: string | null;
  /** Names of the model, as limits compare them. A ledger itself has the id alone. */
  readonly model: string;
  /** Slug of the endpoint that answered; empty where that is not known. */
  readonly endpoint: string;
  /** Time when the last of them was admitted; or later, up to the end of its hour. */
  readonly atMs: UnixMs;
  /** As limits count them: each turn of an answer; nothing of what failed and was not charged. */
  readonly requests: number;
  readonly tokens: number;
  /** Requests whose cost is unknown add nothing. */
  readonly nanoUsd: number;
}

export interface LedgerSums {
  /** The sums, some at a time and in any order; owners without requests are left out. */
  read(query: SumQuery): AsyncIterable<readonly LedgerSum[]>;
}
