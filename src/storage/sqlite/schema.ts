// The tables, as Kysely sees them. Columns exist for what is searched or summed; the rest of a record is one
// value, so that a new member of a record needs no migration and few values need binding per insert.
import type { ColumnType, Generated } from 'kysely';
import type { UsageCounts } from '../../usage/index.ts';

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

export interface KeyTable {
  id: string;
  name: string;
  hash: string;
  hint: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  /** JSON array of patterns; null means all models. */
  models: string | null;
  log_content: number;
  /** JSON object in the configuration's own words; null means nothing. */
  routing: string | null;
  /** 0 or 1; null means as for everybody. */
  strict: number | null;
  /** Null: the key is a project of its own. */
  project_id: string | null;
  /** JSON array; null means `models` alone. */
  roles: string | null;
  /** JSON arrays in the configuration's own words; null means none. */
  limits: string | null;
  budgets: string | null;
  previous_hash: string | null;
  previous_until: number | null;
  /** Null: as it was made. */
  updated_at: number | null;
  version: Generated<number>;
  /** Greater than that of every key that changed before. Set by triggers, also for programs that do not know it. */
  changed: Generated<number>;
}

export interface ProjectTable {
  id: string;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  /** JSON arrays in the configuration's own words; null means none. */
  limits: string | null;
  budgets: string | null;
  version: number;
  /** As of keys. */
  changed: Generated<number>;
}

export interface VaultTable {
  key_id: string;
  call_id: string;
  sealed: Uint8Array;
  expires_at: number;
}

/** A stored response. Texts last, so that the columns before them are read without them. */
export interface ResponseTable {
  row: Generated<number>;
  id: string;
  key_id: string;
  created_at: number;
  /** `NEVER` when it does not, as everywhere among the stored things. */
  expires_at: number;
  previous_id: string | null;
  conversation_id: string | null;
  /** What it counts for in `state_usage`. */
  bytes: number;
  /** JSON array of the places where `response_ids` lists it. */
  places: string;
  response: string;
  input: string;
}

/**
 * Where to look for a response or an item by its id. The ids that the gateway makes for one turn share one place:
 * every further page that a write touches costs as much as the rest of the row. What has the id is in the texts.
 */
export interface ResponseIdTable {
  place: string;
  key_id: string;
  response_row: number;
}

export interface ConversationTable {
  row: Generated<number>;
  id: string;
  /** Empty once it was deleted: from then on nobody finds it, and its items go piece by piece. */
  key_id: string;
  created_at: number;
  expires_at: number;
  /** Itself and its items. */
  bytes: number;
  /** The turn that runs on it, and until when it is believed to. */
  turn_id: string | null;
  turn_until: number | null;
  metadata: string;
}

/** Items in the order of `row`, which grows with every insert; an id is there once. */
export interface ConversationItemTable {
  row: Generated<number>;
  conversation_row: number;
  key_id: string;
  item_id: string | null;
  bytes: number;
  item: string;
}

export interface PromptTable {
  row: Generated<number>;
  id: string;
  key_id: string;
  created_at: number;
  name: string | null;
  default_version: number;
  /** The highest number given so far; those of deleted versions are not given again. */
  last_version: number;
  bytes: number;
}

export interface PromptVersionTable {
  prompt_row: number;
  version: number;
  created_at: number;
  bytes: number;
  template: string;
}

/** An uploaded file without its bytes, which lie under its id in the folder of blobs. */
export interface FileTable {
  row: Generated<number>;
  id: string;
  key_id: string;
  created_at: number;
  expires_at: number;
  purpose: string;
  filename: string;
  media_type: string;
  /** Of the file itself. */
  bytes: number;
}

/** What the stored things of a project occupy, in bytes. */
export interface StateUsageTable {
  key_id: string;
  responses: number;
  /** Conversations, prompts and files, which never give way to something new. */
  kept: number;
}

export interface SettingTable {
  name: string;
  value: string;
}

export interface MigrationTable {
  version: ColumnType<number, number, never>;
  name: string;
  applied_at: number;
}

/** Steps that older programs need not know. */
export interface AdditionTable {
  name: string;
  applied_at: number;
}

export interface Schema {
  records: RecordTable;
  names: NameTable;
  usage_hourly: UsageTable;
  usage_daily: UsageTable;
  usage_end_users: EndUserUsageTable;
  usage_end_user_rows: EndUserRowsTable;
  records_elsewhere: ElsewhereTable;
  records_uncounted: UncountedTable;
  generations: GenerationTable;
  attempts: AttemptTable;
  generation_contents: ContentTable;
  keys: KeyTable;
  projects: ProjectTable;
  vault: VaultTable;
  responses: ResponseTable;
  response_ids: ResponseIdTable;
  conversations: ConversationTable;
  conversation_items: ConversationItemTable;
  prompts: PromptTable;
  prompt_versions: PromptVersionTable;
  files: FileTable;
  state_usage: StateUsageTable;
  settings: SettingTable;
  schema_migrations: MigrationTable;
  schema_additions: AdditionTable;
}
