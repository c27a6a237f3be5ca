// Every table and setting of a data directory, and what becomes of it. A test compares the lists with the tables that there
// are: a new one must be added here.

export interface MovedTable {
  readonly name: string;
  /** Columns of the primary key, in whose order rows are read. */
  readonly keys: readonly string[];
  /** True where rows have numbers of the database's own, which others refer to: they keep them. */
  readonly isNumbered?: boolean;
  /** Numbers that the new database gives anew, and that need not be the same. */
  readonly renumbered?: readonly string[];
}

/** Tables with the same columns in both databases. */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: 'projects', keys: ['id'], renumbered: ['changed'] },
  { name: 'keys', keys: ['id'], renumbered: ['changed'] },
  { name: 'audit', keys: ['row'], isNumbered: true },
  { name: 'vault', keys: ['key_id', 'call_id'] },
  { name: 'responses', keys: ['row'], isNumbered: true },
  { name: 'response_ids', keys: ['place', 'key_id', 'response_row'] },
  { name: 'conversations', keys: ['row'], isNumbered: true },
  { name: 'conversation_items', keys: ['row'], isNumbered: true },
  { name: 'prompts', keys: ['row'], isNumbered: true },
  { name: 'prompt_versions', keys: ['prompt_row', 'version'] },
  { name: 'files', keys: ['row'], isNumbered: true },
  { name: 'state_usage', keys: ['key_id'] },
  { name: 'alerts', keys: ['id'] },
  { name: 'payloads', keys: ['generation_id', 'attempt', 'stage'] },
];

/** Tables that have another form there. */
export const REWRITTEN_TABLES: readonly string[] = [
  'records',
  // Of earlier versions; they become records like the others.
  'generations',
  'attempts',
  'generation_contents',
  'usage_hourly',
  'usage_daily',
  'usage_end_users',
  'usage_end_user_rows',
  // Of each the fingerprints of secrets, and how far records were deleted.
  'settings',
];

/** Tables of which nothing is left to move once records are. */
export const LEFT_TABLES: readonly string[] = [
  // Numbers are spelled out.
  'names',
  // Noted anew with each record.
  'records_elsewhere',
  // Made anew of the hours.
  'usage_hour_totals',
  // For journals of this database alone.
  'responses_deleted',
  // The other database has steps of its own.
  'schema_migrations',
  'schema_additions',
  // SQLite's own.
  'sqlite_sequence',
];

/** Tables that are empty once all records are in the sums, as they are before the move begins. */
export const SETTLED_TABLES: readonly string[] = ['records_uncounted', 'usage_notes', 'usage_settlements'];

/** Settings that are moved: how far records were deleted. Fingerprints of secrets are, too. */
export const MOVED_SETTINGS: readonly string[] = ['usage_purged_before'];

/** Settings that mean something in their own database alone. */
export const LEFT_SETTINGS: readonly string[] = [
  'identity',
  'usage_folded',
  'usage_left_records',
  'usage_left_generations',
];
