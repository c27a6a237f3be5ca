// Every table and setting of a data directory, and what becomes of it. A test compares the lists with the tables that there
// are.
import { FOLDED, PURGED_BEFORE } from '../ledger/usage-tables.ts';
import { STATE_STORES, tablesOf } from '../tables/stores.ts';
import type { TableDeclaration } from '../tables/table.ts';

/** Tables with the same columns in both databases: those of the stores that both have. */
export const MOVED_TABLES: readonly TableDeclaration[] = tablesOf(STATE_STORES).filter(
  ({ only, isLocal = false }) => only === undefined && !isLocal,
);

/** Tables that have another form there. */
export const REWRITTEN_TABLES: readonly string[] = [
  // The fingerprints of secrets, and how far sums and deletions came.
  'settings',
];

/** Tables of which nothing is left to move. */
export const LEFT_TABLES: readonly string[] = [
  // Deletions, for journals of this database alone.
  'deleted_of_turns',
  // The other database has steps of its own.
  'schema_version',
];

/** Settings that are moved: how far sums are folded, and records were deleted. Fingerprints of secrets are, too. */
export const MOVED_SETTINGS: readonly string[] = [FOLDED, PURGED_BEFORE];

/** Settings that mean something in their own database alone. */
export const LEFT_SETTINGS: readonly string[] = ['identity'];
