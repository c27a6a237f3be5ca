// The tables, as Kysely sees them. Columns exist for what is searched or summed; the rest of a record is one
// JSON text, so that a new member of a record needs no migration and few values need binding per insert.
import type { ColumnType } from 'kysely';

export interface GenerationTable {
  id: string;
  key_id: string;
  /** Unix milliseconds, as are all times in this file. */
  created_at: number;
  model: string | null;
  provider: string | null;
  status: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  /** The record in the form of `ledger-rows.ts`. */
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
}

export interface VaultTable {
  key_id: string;
  call_id: string;
  sealed: Uint8Array;
  expires_at: number;
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

export interface Schema {
  generations: GenerationTable;
  attempts: AttemptTable;
  generation_contents: ContentTable;
  keys: KeyTable;
  vault: VaultTable;
  settings: SettingTable;
  schema_migrations: MigrationTable;
}
