// Sums over records, as the rest of Dragoman asks for them; a part of `ports.ts`.
import type { UsageInterval, UsageSums, WantedSums } from '../usage/index.ts';
import type { LedgerSums } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/**
 * Names by which sums can be asked for; null where a request has none. `model`: that ran, or that was asked for where none did;
 * `provider` and `endpoint`: that answered, or were tried last; of an attempt those that it was made at.
 */
export const USAGE_DIMENSIONS = [
  'project',
  'key',
  'model',
  'provider',
  'endpoint',
  'protocol',
  'requested_model',
  'outcome',
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageQuery {
  /** Unix milliseconds; both are widened to whole hours (5 minutes, where it is by minutes), or to whole intervals. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  /** Null: all the time together. */
  readonly interval: UsageInterval | null;
  /** Time zone of days and months, by its name in the IANA database. Absent: UTC. */
  readonly timeZone?: string | undefined;
  /** True: by sums of 5 minutes, which are kept for two days, as with intervals of minutes. */
  readonly byMinutes?: boolean | undefined;
  readonly groupBy: readonly UsageDimension[];
  /** Filters: only these count; a list without members lets nothing through, an empty text what has none. */
  readonly filters: { readonly [name in UsageDimension]?: readonly string[] | undefined };
  /** All others are 0, or empty: what is not read makes the answer quicker. Absent: everything. */
  readonly wanted?: WantedSums;
}

export interface UsageRow {
  /** Unix milliseconds at which its interval begins; null without intervals. */
  readonly startMs: UnixMs | null;
  /** Names that it was grouped by. */
  readonly group: { readonly [name in UsageDimension]?: string | null };
  readonly sums: UsageSums;
}

export interface UsageReport {
  /** The time as widened, and `fromMs` no earlier than what is known by the hour. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  /** Order: by time, then by cost, the largest first. Intervals without requests are left out. */
  readonly rows: readonly UsageRow[];
  /** Always true: records are in the sums as soon as they are in the database. */
  readonly complete: boolean;
}

export interface EndUserQuery extends Pick<UsageQuery, 'fromMs' | 'toMs'> {
  readonly filters: Pick<UsageQuery['filters'], 'project' | 'key' | 'model'>;
}

/** Sums of the requests of an end user. */
export interface EndUserUsage {
  readonly project: string;
  /** As records have it; null for those for whom an hour had no room (10,000 to an hour and project). */
  readonly endUser: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number;
  readonly unpriced: number;
}

/** Sums over records: kept by the hour, so that a month is read in moments, and exact to the nano-dollar. */
export interface UsageStore extends LedgerSums {
  /**
   * Sees everything that was appended before. Lets others run meanwhile.
   * @throws GatewayError `invalid_request` when the answer would have more than 10,000 rows
   */
  query(query: UsageQuery): Promise<UsageReport>;
  /** @throws GatewayError `invalid_request`, as above */
  endUsers(
    query: EndUserQuery,
  ): Promise<{ readonly rows: readonly EndUserUsage[]; readonly complete: boolean }>;
  /**
   * Last uses of keys (Unix milliseconds): the beginning of the 5 minutes, or of the day where it is longer ago.
   * @param keys only these; absent: all
   */
  lastUsed(keys?: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Adds the sums of a day up again from its records: the repair, should they ever differ.
   * @param day since 1970, in UTC
   * @returns how many records it has
   * @throws GatewayError `conflict` for a day that is not over, whose records were deleted, or to which records still come
   */
  recount(day: number): Promise<number>;
  /**
   * A small step (a few milliseconds) of what has to be done in the background: 5 minutes that are over become part of their
   * hour and day. False when nothing is left to do.
   */
  maintain(nowMs: UnixMs): Promise<boolean>;
  /**
   * Deletes some sums of days before a time (Unix milliseconds), a few milliseconds' worth. What they came to all together
   * stays, by whatever records are of, as if it had been on 1 January 1970; of end users it does not.
   * @returns how many rows; 0 when none is left
   */
  purge(beforeMs: UnixMs): Promise<number>;
}
