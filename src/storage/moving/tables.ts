// All tables and settings of a data directory, and whether they are moved. A test compares these lists with the
// existing tables.
import { FOLDED, PURGED_BEFORE } from '../ledger/usage-tables.ts';
import { STATE_STORES, tablesOf } from '../tables/stores.ts';
import type { TableDeclaration } from '../tables/table.ts';

/** Tables with the same columns in both databases. */
export const MOVED_TABLES: readonly TableDeclaration[] = tablesOf(STATE_STORES).filter(
  ({ only, isLocal = false }) => only === undefined && !isLocal,
);

/** Tables whose rows are not copied as they are. */
export const REWRITTEN_TABLES: readonly string[] = [
  // Fingerprints of secrets, and the progress of folding and purging.
  'settings',
];

/** Tables that are not moved. */
export const LEFT_TABLES: readonly string[] = [
  // Deletions that only this database's journals need.
  'deleted_of_turns',
  // PostgreSQL has its own schema versions.
  'schema_version',
];

/** Settings that are moved: progress of folding and purging. Fingerprints of secrets are moved separately. */
export const MOVED_SETTINGS: readonly string[] = [FOLDED, PURGED_BEFORE];

/** Settings that apply only to their own database. */
export const LEFT_SETTINGS: readonly string[] = ['identity'];
