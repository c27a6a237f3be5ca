// Port of the ledger: storage and queries of request records.
import type { AttemptRecord, GenerationRecord, Outcome, RequestState } from '../ledger/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Each filter matches any value of its list. Absent: all. */
export interface GenerationFilters {
  readonly project?: readonly string[] | undefined;
  readonly key?: readonly string[] | undefined;
  /** Model that answered, or else the requested one. */
  readonly model?: readonly string[] | undefined;
  readonly requestedModel?: readonly string[] | undefined;
  /** Endpoint that answered, or was tried last. */
  readonly provider?: readonly string[] | undefined;
  readonly endpoint?: readonly string[] | undefined;
  /** Providers of any attempt. */
  readonly attempted?: readonly string[] | undefined;
  /** Name of the client's protocol. */
  readonly protocol?: readonly string[] | undefined;
  /** 32 hexadecimal characters, as in records. */
  readonly endUser?: readonly string[] | undefined;
  /** HTTP status sent to the client. */
  readonly status?: readonly number[] | undefined;
  readonly outcome?: readonly Outcome[] | undefined;
  readonly state?: readonly RequestState[] | undefined;
  readonly errorKind?: readonly string[] | undefined;
  /** Minimum cost in USD. Excludes requests with an unknown cost. */
  readonly minCostUsd?: number | undefined;
  readonly minDurationMs?: DurationMs | undefined;
  readonly minAttempts?: number | undefined;
  /** Part of a model name, one of these keys, or the prefix of an id. */
  readonly text?: { readonly text: string; readonly keyIds: readonly string[] } | undefined;
  /** Requests that took longer than usual at their endpoint. An empty list matches none. */
  readonly slowerThan?: readonly UsualTime[] | undefined;
  /** Start time, inclusive. */
  readonly fromMs?: UnixMs | undefined;
  readonly toMs?: UnixMs | undefined;
}

/** Usual durations at an endpoint, in milliseconds. */
export interface UsualTime {
  readonly model: string;
  readonly endpoint: string;
  readonly ms: number;
}

/** Orders of a list. Records without the value come last in both directions. */
export const GENERATION_ORDERS = ['time', 'duration', 'first_content', 'cost', 'tokens'] as const;
export type GenerationOrder = (typeof GENERATION_ORDERS)[number];

export interface GenerationQuery {
  readonly filters: GenerationFilters;
  /** `desc`: newest or largest first. */
  readonly order: 'asc' | 'desc';
  /** Absent: `time`. */
  readonly orderBy?: GenerationOrder | undefined;
  /**
   * Id of a generation, 32 hexadecimal characters. The list continues after it. In order of time, it may already be
   * deleted.
   */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Members by which generations can be counted. */
export const GENERATION_FACETS = [
  'state',
  'error_kind',
  'project',
  'key',
  'model',
  'provider',
  'protocol',
  'requested_model',
] as const;
export type GenerationFacet = (typeof GENERATION_FACETS)[number];

export interface GenerationCountQuery {
  readonly filters: GenerationFilters;
  /**
   * Start of each interval, and the end of the last, in Unix milliseconds. All intervals have equal length. At least
   * two.
   */
  readonly edges: readonly number[];
}

/** Number of generations in an interval. */
export interface GenerationCount {
  readonly startMs: UnixMs;
  readonly count: number;
  /** Counts by index in `REQUEST_STATES`. */
  readonly states: readonly number[];
}

export interface GenerationCounts {
  /** One per interval, in order. */
  readonly intervals: readonly GenerationCount[];
  /** False: there were more records than the limit, and only the newest were counted. */
  readonly isExact: boolean;
}

export interface ListedGeneration {
  readonly generation: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
}

/** Durations of one answer, in milliseconds. */
export interface AnswerTime {
  readonly durationMs: DurationMs;
  /** Null: not streamed. */
  readonly firstContentMs: DurationMs | null;
}

export interface GenerationPage {
  /** Records without prompts and answers, which lists do not show. */
  readonly generations: readonly ListedGeneration[];
  readonly hasMore: boolean;
}

export interface LedgerBacklog {
  readonly bytes: number;
  /** True while the database accepts no writes: it is unreachable, or the last write failed. */
  readonly isStuck: boolean;
  /** True while the next record may be refused: the backlog or the disk is full. */
  readonly isFull: boolean;
}

export interface LedgerStore {
  /** Records that are in the journal and not yet in the database. */
  backlog(): LedgerBacklog;
  /**
   * Writes a generation and its attempts. They survive a crash of the process when it returns. Writing an id again
   * has no effect.
   * @throws GatewayError `internal` if they could not be written
   */
  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): void;
  /**
   * Promise that the end of an answer waits for: the records appended before are as durable as `ledger.durability`
   * requires. Does not wait for a slow or unreachable database, because they are in the journal.
   * @returns undefined if there is nothing to wait for. Never rejects
   */
  confirmed(): Promise<void> | undefined;
  /** A generation of a project with its attempts in order; null if the project has none with this id. */
  find(id: string, projectId: string): Promise<ListedGeneration | null>;
  /** A generation of any project, for operators. */
  findOfAnybody(id: string): Promise<ListedGeneration | null>;
  /**
   * Generations of all projects that match the filters, by time of request. Without deferred usage. Yields to the
   * event loop.
   * @throws GatewayError `invalid_request` (`after`) for an invalid id
   */
  list(query: GenerationQuery): Promise<GenerationPage>;
  /** Counts matching generations by interval and state. Reads at most the newest million records. */
  count(query: GenerationCountQuery): Promise<GenerationCounts>;
  /**
   * Counts matching generations by value, most frequent first, at most 100 values. Counts the newest 200,000 matches.
   */
  facet(
    filters: GenerationFilters,
    by: GenerationFacet,
  ): Promise<readonly { readonly value: string; readonly count: number }[]>;
  /**
   * Durations of the newest complete answers of one attempt at an endpoint, at most 2,000. @param fromMs Unix
   * milliseconds
   */
  times(model: string, endpoint: string, fromMs: UnixMs): Promise<readonly AnswerTime[]>;
  /**
   * Deletes some records before a time (Unix milliseconds) with their contents, for a few milliseconds. Their sums
   * stay. If records are partitioned by day, whole days are deleted.
   * @returns number of records or days; 0: none are left
   */
  purge(beforeMs: UnixMs): Promise<number>;
  /** The same for prompts and answers only. */
  purgeContents(beforeMs: UnixMs): Promise<number>;
}
