// A record as its row and the sums take it: names as texts, empty where there is none.
import {
  countedRequestsIn,
  countFacts,
  inputTokensIn,
  noUsageSums,
  outputTokensIn,
  type UsageFacts,
} from '../../../usage/index.ts';
import type { RecordColumns } from '../../record-columns.ts';
import { liesAtItsTime, textId } from '../../record-ids.ts';
import { storable } from '../text.ts';
import { rowId } from './row-ids.ts';

/** What sums are kept by. */
export interface RecordNames {
  readonly project: string;
  readonly key: string;
  readonly model: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly protocol: string;
}

export interface CountedRecord {
  readonly id: Buffer;
  readonly createdAt: number;
  readonly names: RecordNames;
  /** 32 hexadecimal characters. */
  readonly endUser: string | null;
  readonly facts: UsageFacts;
  readonly columns: RecordColumns;
  /** True where its time is not that of its id. */
  readonly isElsewhere: boolean;
}

/** How a request ended, as rows have it. */
export const OUTCOME_NUMBERS = { answered: 0, failed: 1, cancelled: 2 } as const;

export function countedRecord(columns: RecordColumns): CountedRecord {
  const { facts, createdAt } = columns;
  const nameOf = (name: number | string | null): string => {
    // Numbers are SQLite's: nothing that is written for this database has one.
    if (typeof name === 'number') throw new RangeError(`no name has the number ${name}`);
    return name === null ? '' : storable(name);
  };
  const key = nameOf(columns.key);
  return {
    id: rowId(textId(columns.id)),
    createdAt,
    names: {
      project: facts.project === null ? key : nameOf(facts.project),
      key,
      model: nameOf(columns.model),
      provider: nameOf(columns.provider),
      endpoint: nameOf(facts.endpoint),
      protocol: nameOf(facts.protocol),
    },
    endUser: facts.endUser,
    facts,
    columns,
    isElsewhere: !liesAtItsTime(columns.id, createdAt),
  };
}

export function outcomeOf({ cancelled, errorKind }: UsageFacts): number {
  if (cancelled) return OUTCOME_NUMBERS.cancelled;
  return errorKind === null ? OUTCOME_NUMBERS.answered : OUTCOME_NUMBERS.failed;
}

/** What limits count of a record. */
export function spentBy(facts: UsageFacts): {
  readonly requests: number;
  readonly tokens: number;
  readonly nanoUsd: number;
} {
  const sums = noUsageSums();
  countFacts(sums, facts);
  const { counts } = sums;
  return {
    requests: countedRequestsIn(counts),
    tokens: inputTokensIn(counts) + outputTokensIn(counts),
    nanoUsd: counts.nano_usd,
  };
}
