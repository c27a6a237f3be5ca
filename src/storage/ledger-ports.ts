// What the rest of Dragoman asks of the records of requests; a part of `ports.ts`.
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';

/** How a request ended: with an answer, with an error (also in the middle of an answer), or because its client left. */
export const OUTCOMES = ['answered', 'failed', 'cancelled'] as const;

/** Each lets through what is in its list; absent: everything. */
export interface GenerationFilters {
  readonly project?: readonly string[] | undefined;
  readonly key?: readonly string[] | undefined;
  /** The model that ran. */
  readonly model?: readonly string[] | undefined;
  readonly provider?: readonly string[] | undefined;
  readonly endpoint?: readonly string[] | undefined;
  /** Of the client. */
  readonly protocol?: readonly string[] | undefined;
  /** As records have it: 32 hexadecimal characters. */
  readonly endUser?: readonly string[] | undefined;
  /** HTTP status sent to the client. */
  readonly status?: readonly number[] | undefined;
  readonly outcome?: readonly (typeof OUTCOMES)[number][] | undefined;
  /** USD, and more; those with an unknown cost are left out. */
  readonly minCostUsd?: number | undefined;
  /** Requests that came from here on, and before (Unix milliseconds). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export interface GenerationQuery {
  readonly filters: GenerationFilters;
  /** `desc`: the newest first. */
  readonly order: 'asc' | 'desc';
  /** Id of a generation, 32 hexadecimal characters: what follows it in this order. It need not be there any more. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface ListedGeneration {
  readonly generation: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
}

export interface GenerationPage {
  /** Without their prompts and answers, which lists never show. */
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
  /** What is written, durably, and not in the database yet. */
  backlog(): LedgerBacklog;
  /**
   * Writes a generation and its attempts. The records survive the death of the process when it returns. Writing an id again
   * changes nothing.
   * @throws GatewayError `internal` when they could not be written
   */
  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): void;
  /**
   * What the last byte of an answer waits for: that the records which were appended before are as safe as
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
  /**
   * Deletes some records of before a time (Unix milliseconds), with their contents: a few milliseconds' worth. Sums of them
   * stay; while older records are still being added up, none is deleted. Where records lie apart by their days, a day goes as a
   * whole, when all of it is before that time. @returns how many (or days); 0 when none is left
   */
  purge(beforeMs: number): Promise<number>;
  /** The same for prompts and answers alone. */
  purgeContents(beforeMs: number): Promise<number>;
}
