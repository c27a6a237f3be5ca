// What the rest of Dragoman asks of sums over records; a part of `ports.ts`.
import type { UsageSums, WantedSums } from '../usage/index.ts';
import type { LedgerSums } from '../limits/index.ts';

/** What sums can be asked for by. Values are as records have them; null where they have none. */
export const USAGE_DIMENSIONS = ['project', 'key', 'model', 'provider', 'endpoint', 'protocol'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageQuery {
  /** Unix milliseconds; both are widened to whole hours, or to whole intervals. */
  readonly fromMs: number;
  readonly toMs: number;
  /** In UTC; null: all the time together. */
  readonly interval: 'hour' | 'day' | 'month' | null;
  readonly groupBy: readonly UsageDimension[];
  /** Only these; a list without members lets nothing through, an empty text what has none. */
  readonly filters: { readonly [name in UsageDimension]?: readonly string[] | undefined };
  /** All others are 0, or empty: what is not read makes the answer quicker. Absent: everything. */
  readonly wanted?: WantedSums;
}

export interface UsageRow {
  /** Unix milliseconds at which its interval begins; null without intervals. */
  readonly startMs: number | null;
  /** By what it was asked for. */
  readonly group: { readonly [name in UsageDimension]?: string | null };
  readonly sums: UsageSums;
}

export interface UsageReport {
  /** As widened, and `fromMs` no earlier than what is known by the hour. */
  readonly fromMs: number;
  readonly toMs: number;
  /** By time, then by cost, the largest first. Intervals without requests are left out. */
  readonly rows: readonly UsageRow[];
  /** False while records of before there were sums are still being added up. */
  readonly complete: boolean;
}

export interface EndUserQuery extends Pick<UsageQuery, 'fromMs' | 'toMs'> {
  readonly filters: Pick<UsageQuery['filters'], 'project' | 'key' | 'model'>;
}

/** What the requests of an end user came to. */
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
   * A small step (a few milliseconds) of what has to be done in the background: adds up records of before there were
   * sums, and days that are over. False when nothing is left to do.
   */
  maintain(nowMs: number): Promise<boolean>;
  /**
   * Deletes some sums of days before a time (Unix milliseconds), a few milliseconds' worth. What they came to all together
   * stays, by whatever records are of, as if it had been on 1 January 1970; of end users it does not.
   * @returns how many rows; 0 when none is left
   */
  purge(beforeMs: number): Promise<number>;
}
