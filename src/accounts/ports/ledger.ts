// Records of requests, as the rest of Dragoman asks for them; a part of `ports.ts`.
import type { AttemptRecord, GenerationRecord, Outcome, RequestState } from '../ledger/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Each lets through what is in its list; absent: everything. */
export interface GenerationFilters {
  readonly project?: readonly string[] | undefined;
  readonly key?: readonly string[] | undefined;
  /** The model that ran, or that was asked for where none did. */
  readonly model?: readonly string[] | undefined;
  readonly requestedModel?: readonly string[] | undefined;
  /** The endpoint that answered, or was tried last. */
  readonly provider?: readonly string[] | undefined;
  readonly endpoint?: readonly string[] | undefined;
  /** Providers of any of its attempts. */
  readonly attempted?: readonly string[] | undefined;
  /** Status sent to the client. */
  readonly protocol?: readonly string[] | undefined;
  /** As records have it: 32 hexadecimal characters. */
  readonly endUser?: readonly string[] | undefined;
  /** HTTP status sent to the client. */
  readonly status?: readonly number[] | undefined;
  readonly outcome?: readonly Outcome[] | undefined;
  readonly state?: readonly RequestState[] | undefined;
  readonly errorKind?: readonly string[] | undefined;
  /** USD, and more; those with an unknown cost are left out. */
  readonly minCostUsd?: number | undefined;
  readonly minDurationMs?: DurationMs | undefined;
  readonly minAttempts?: number | undefined;
  /** Part of the name of a model, one of these keys, or the first digits of an id. */
  readonly text?: { readonly text: string; readonly keyIds: readonly string[] } | undefined;
  /** Requests that took longer than is usual at their endpoint. Without members: none. */
  readonly slowerThan?: readonly UsualTime[] | undefined;
  /** Requests that came from here on, and before. */
  readonly fromMs?: UnixMs | undefined;
  readonly toMs?: UnixMs | undefined;
}

/** Times that requests take at one endpoint, in milliseconds. */
export interface UsualTime {
  readonly model: string;
  readonly endpoint: string;
  readonly ms: number;
}

/** Orders of a list. A record without such a value stands behind all others in either direction. */
export const GENERATION_ORDERS = ['time', 'duration', 'first_content', 'cost', 'tokens'] as const;
export type GenerationOrder = (typeof GENERATION_ORDERS)[number];

export interface GenerationQuery {
  readonly filters: GenerationFilters;
  /** `desc`: the newest or largest first. */
  readonly order: 'asc' | 'desc';
  /** Absent: `time`. */
  readonly orderBy?: GenerationOrder | undefined;
  /** Id of a generation, 32 hexadecimal characters: what follows it in this order. By time it need not be there any more. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Members by which generations are counted. */
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
  /** Beginnings of intervals of one length, and the end of the last one (Unix milliseconds), in order; at least two. */
  readonly edges: readonly number[];
}

/** Generations of an interval. */
export interface GenerationCount {
  readonly startMs: UnixMs;
  readonly count: number;
  /** Counts by number in `REQUEST_STATES`. */
  readonly states: readonly number[];
}

export interface GenerationCounts {
  /** One for each interval, in order. */
  readonly intervals: readonly GenerationCount[];
  /** False: there were more records than are looked at; the newest were counted. */
  readonly isExact: boolean;
}

export interface ListedGeneration {
  readonly generation: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
}

/** Times of one answer, in milliseconds. */
export interface AnswerTime {
  readonly durationMs: DurationMs;
  /** Null: it was not streamed. */
  readonly firstContentMs: DurationMs | null;
}

export interface GenerationPage {
  /** Records without prompts and answers, which lists never show. */
  readonly generations: readonly ListedGeneration[];
  readonly hasMore: boolean;
}

export interface LedgerBacklog {
  readonly bytes: number;
  /** True while the database takes nothing: it is out of reach, or the last try to write there failed. */
  readonly isStuck: boolean;
  /** True while the next record may find no room: too much waits, or the disk takes none. */
  readonly isFull: boolean;
}

export interface LedgerStore {
  /** Records that are written, durably, and not in the database yet. */
  backlog(): LedgerBacklog;
  /**
   * Writes a generation and its attempts. The records survive the death of the process when it returns. Writing an id again
   * changes nothing.
   * @throws GatewayError `internal` when they could not be written
   */
  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): void;
  /**
   * Promise that the last byte of an answer waits for: that the records which were appended before are as safe as
   * `ledger.durability` asks. A database that is slow or out of reach is not waited for: they are in the journal.
   * @returns undefined where nothing is to be waited for; never rejects
   */
  confirmed(): Promise<void> | undefined;
  /** A generation of one project, with its attempts in order; null when the project has none of this id. */
  find(id: string, projectId: string): Promise<ListedGeneration | null>;
  /** The same whoever's it is: for operators. */
  findOfAnybody(id: string): Promise<ListedGeneration | null>;
  /**
   * Generations of all projects, as far as filters let them through, in the order of their requests. Counts that came late
   * are no entries. Lets others run meanwhile.
   * @throws GatewayError `invalid_request` (`after`) for what is no id
   */
  list(query: GenerationQuery): Promise<GenerationPage>;
  /** Counts generations that pass the filters, by interval and state. Looks at the newest records, a million of them. */
  count(query: GenerationCountQuery): Promise<GenerationCounts>;
  /** Counts generations by value, the most frequent first, at most 100. Counts the newest 200,000 that pass. */
  facet(
    filters: GenerationFilters,
    by: GenerationFacet,
  ): Promise<readonly { readonly value: string; readonly count: number }[]>;
  /** Times of the newest whole answers of one attempt at an endpoint, at most 2,000. @param fromMs Unix milliseconds */
  times(model: string, endpoint: string, fromMs: UnixMs): Promise<readonly AnswerTime[]>;
  /**
   * Deletes some records of before a time (Unix milliseconds), with their contents: a few milliseconds' worth. Their sums
   * stay. Where records lie apart by their days, a day goes as a whole, when all of it is before that time.
   * @returns how many records (or days); 0 when none is left
   */
  purge(beforeMs: UnixMs): Promise<number>;
  /** The same for prompts and answers alone. */
  purgeContents(beforeMs: UnixMs): Promise<number>;
}
