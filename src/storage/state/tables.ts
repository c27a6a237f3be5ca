// The tables of what is kept besides records, as Kysely sees them: the same columns in every database. Columns exist for
// what is searched or counted; the rest of a thing is one text of JSON.
import type { ColumnType, Generated } from 'kysely';

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
  /** 0 or 1; what it says holds unless the next one does. */
  log_content: number;
  /** 1: as the configuration says. Null for keys from before there was a choice. */
  content_as_configured: number | null;
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

/** An entry of the audit log. */
export interface AuditTable {
  /** In the order of the changes. */
  row: Generated<number>;
  id: string;
  created_at: number;
  actor_id: string;
  actor_name: string;
  address: string | null;
  action: string;
  target: string;
  request_id: string | null;
  /** JSON objects. */
  before: string | null;
  after: string | null;
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

/** All of them. */
export interface StateSchema {
  keys: KeyTable;
  projects: ProjectTable;
  audit: AuditTable;
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
