// Port of usage: sums over records.
import type { UsageInterval, UsageSums, WantedSums } from '../usage/index.ts';
import type { LedgerSums } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/**
 * Dimensions of sums; null: a request has no such value. `model`: the one that answered, or else the requested one.
 * `provider` and `endpoint`: those that answered, or that were tried last; for attempts, their own.
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
  /** Unix milliseconds. Both ends are widened to whole hours (or 5 minutes with `byMinutes`), or to whole intervals. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  /** Null: one sum for the whole time. */
  readonly interval: UsageInterval | null;
  /** IANA name of the time zone of days and months. Absent: UTC. */
  readonly timeZone?: string | undefined;
  /** True: uses sums of 5 minutes, which are kept for two days. Implied by intervals of minutes. */
  readonly byMinutes?: boolean | undefined;
  readonly groupBy: readonly UsageDimension[];
  /** Filters by values. An empty list matches nothing; an empty string matches requests without a value. */
  readonly filters: { readonly [name in UsageDimension]?: readonly string[] | undefined };
  /** Sums to read; all others are 0 or empty, which is faster. Absent: all. */
  readonly wanted?: WantedSums;
}

export interface UsageRow {
  /** Start of its interval in Unix milliseconds; null: no intervals. */
  readonly startMs: UnixMs | null;
  /** Values of the dimensions it is grouped by. */
  readonly group: { readonly [name in UsageDimension]?: string | null };
  readonly sums: UsageSums;
}

export interface UsageReport {
  /** The widened time span. `fromMs` is not before the first stored hour. */
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  /** Rows by time, then by descending cost. Intervals without requests are left out. */
  readonly rows: readonly UsageRow[];
}

export interface EndUserQuery extends Pick<UsageQuery, 'fromMs' | 'toMs'> {
  readonly filters: Pick<UsageQuery['filters'], 'project' | 'key' | 'model'>;
}

/** Usage of an end user. */
export interface EndUserUsage {
  readonly project: string;
  /** Hash as in records; null: users beyond 10,000 per hour and project. */
  readonly endUser: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number;
  readonly unpriced: number;
}

/** Sums over records by the hour, exact to the nano-dollar. */
export interface UsageStore extends LedgerSums {
  /**
   * Reads sums, including all records appended before. Yields to the event loop.
   * @throws GatewayError `invalid_request` if the result would have more than 10,000 rows
   */
  query(query: UsageQuery): Promise<UsageReport>;
  endUsers(query: EndUserQuery): Promise<readonly EndUserUsage[]>;
  /**
   * Time of the last use of keys in Unix milliseconds, rounded down to 5 minutes, or to the day for older ones.
   * @param keys ids of keys; absent: all
   */
  lastUsed(keys?: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Recomputes the sums of a day from its records, to repair them.
   * @param day days since 1970, in UTC
   * @returns number of records
   * @throws GatewayError `conflict` if the day is not over, its records were deleted, or records may still be added
   */
  recount(day: number): Promise<number>;
  /**
   * Does a small step (a few milliseconds) of background work: finished 5 minutes are added to their hour and day.
   * @returns false if nothing is left to do
   */
  maintain(nowMs: UnixMs): Promise<boolean>;
  /**
   * Deletes some sums of days before a time, for a few milliseconds. Their totals per dimension stay, dated 1 January 1970;
   * totals per end user do not.
   * @param beforeMs Unix milliseconds
   * @returns number of rows; 0: none are left
   */
  purge(beforeMs: UnixMs): Promise<number>;
}
