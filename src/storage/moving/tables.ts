// Tables and settings of a data directory that are moved.
import { FOLDED, PURGED_BEFORE } from '../ledger/usage-tables.ts';
import { STATE_STORES, tablesOf } from '../tables/stores.ts';
import type { TableDeclaration } from '../tables/table.ts';

/** Tables with the same columns in both databases. */
export const MOVED_TABLES: readonly TableDeclaration[] = tablesOf(STATE_STORES).filter(
  ({ only, isLocal = false }) => only === undefined && !isLocal,
);

/** Settings that are moved: progress of folding and purging. Fingerprints of secrets are moved separately. */
export const MOVED_SETTINGS: readonly string[] = [FOLDED, PURGED_BEFORE];
