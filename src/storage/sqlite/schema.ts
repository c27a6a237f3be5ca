// The tables of records and sums in SQLite, as Kysely sees them. Columns exist for what is searched or summed; the rest of a record is one
// value, so that a new member of a record needs no migration and few values need binding per insert.
import type { Generated } from 'kysely';
import type { UsageCounts } from '../../usage/index.ts';
import type { StateSchema } from '../state/tables.ts';

/** A request and its attempts. Names (key, model, provider) are numbers of `names`. */
export interface RecordTable {
  /** The 16 bytes of the gateway's own ids, which begin with the time; text where it is none of those. */
  id: Uint8Array | string;
  key: number;
  /** Unix milliseconds, as are all times in this file. */
  created_at: number;
  model: number | null;
  provider: number | null;
  status: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  /** All else, in the form of `record-writer.ts`. */
  record: Uint8Array;
  /** 1 when it is in the sums; null for those of a program that knows none. */
  counted: number | null;
}

/** Sums of the records of an hour, or a day, that agree in what they are of. Names are numbers of `names`; 0 is none. */
export interface UsageTable extends UsageCounts {
  /** Hours or days since 1970, UTC. */
  period: number;
  project: number;
  key: number;
  model: number;
  provider: number;
  endpoint: number;
  protocol: number;
  /** In the form of `usage-details.ts`. */
  details: Uint8Array;
}

/** What an hour that is over came to: all of it, or by one of the things that its sums are kept by. */
export interface HourTotalsTable extends UsageCounts {
  period: number;
  /** As `storage/usage/hour-totals.ts` numbers them. */
  dimension: number;
  name: number;
  details: Uint8Array;
}

/** Sums of an hour by end user. */
export interface EndUserUsageTable {
  period: number;
  project: number;
  /** 16 bytes of a hash; none for all that the hour has no room for. */
  end_user: Uint8Array;
  key: number;
  model: number;
  requests: number;
  errors: number;
  charged_errors: number;
  tool_turns: number;
  input_tokens: number;
  output_tokens: number;
  nano_usd: number;
  unpriced: number;
}

/** Rows that an hour has of a project's end users. */
export interface EndUserRowsTable {
  period: number;
  project: number;
  rows: number;
}

/** Records that do not lie where their time is: counts that came late, and those with ids of another form. */
export interface ElsewhereTable {
  created_at: number;
  id: Uint8Array | string;
}

/** Records that a program without sums has written since there are some. */
export interface UncountedTable {
  id: Uint8Array | string;
}

/** Records of one transaction that are in no row of sums yet; see `usage/pending-sums.ts`. */
export interface NoteTable {
  /** The process that has their sums in memory, as long as it lives. */
  writer: string;
  /** Counted up by the writer. */
  number: number;
  /** When the oldest of them came. */
  oldest: number;
  /** 16 bytes each. */
  ids: Uint8Array;
}

/** Notes whose rows of sums are being written, a part after the other. */
export interface SettlementTable {
  writer: string;
  /** The number of the last note. */
  last: number;
  parts: number;
  /** Parts that are written. */
  done: number;
}

/** Responses that were deleted, which a journal may still hold. */
export interface DeletedResponseTable {
  id: string;
  deleted_at: number;
}

/** Texts that many records hold. */
export interface NameTable {
  number: Generated<number>;
  text: string;
}

/** Records of earlier versions, as are `attempts`. */
export interface GenerationTable {
  id: string;
  key_id: string;
  created_at: number;
  model: string | null;
  provider: string | null;
  status: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  /** JSON, in the form of `earlier-ledger-rows.ts`. */
  record: string;
}

export interface AttemptTable {
  id: string;
  generation_id: string;
  ordinal: number;
  provider: string;
  outcome: string;
  record: string;
}

/** Prompts and answers, apart from the records: large and rare, so that they can be deleted sooner. */
export interface ContentTable {
  generation_id: string;
  created_at: number;
  request: string;
  answer: string;
}

/** All tables. */
export interface Schema extends StateSchema {
  records: RecordTable;
  names: NameTable;
  usage_hourly: UsageTable;
  usage_daily: UsageTable;
  usage_hour_totals: HourTotalsTable;
  usage_end_users: EndUserUsageTable;
  usage_end_user_rows: EndUserRowsTable;
  records_elsewhere: ElsewhereTable;
  records_uncounted: UncountedTable;
  usage_notes: NoteTable;
  usage_settlements: SettlementTable;
  responses_deleted: DeletedResponseTable;
  generations: GenerationTable;
  attempts: AttemptTable;
  generation_contents: ContentTable;
}
