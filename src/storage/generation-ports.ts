// What the rest of Dragoman asks of the list of generations; a part of `ports.ts`.
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
  readonly generations: readonly ListedGeneration[];
  readonly hasMore: boolean;
}
