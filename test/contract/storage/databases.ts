// The databases that every store must behave alike on. A suite runs for each: what is asked of a store stands there once.
import { describe } from 'bun:test';
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { disposable } from '../../support/disposable.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';

/** Records and sums have tests of their own, and many tables. */
const { ledger: _ledger, usage: _usage, ...STATE_STORES } = POSTGRES_STORES;

/** Stores besides the records, in both databases. */
export type StateStorage = Omit<Storage, 'ledger' | 'usage' | 'running' | 'secret' | 'earlierSecrets'>;

export interface StateOptions {
  readonly maxBytesPerKey?: () => number;
}

/** Opens one database, which was empty at first, as often as it is asked: as a process each time. */
export type OpenState = (options?: StateOptions) => Promise<StateStorage & AsyncDisposable>;

/**
 * Runs a suite for each database, under its name.
 * @param suite given what makes an empty database
 */
export function describeDatabases(suite: (fresh: () => Promise<OpenState>) => void): void {
  describe('SQLite:', () =>
    suite(async () => {
      const path = freshPath();
      // Time stands still for deletions, so that one step does as much on a busy machine.
      return async (options = {}) =>
        disposable(await openSqliteStorage({ path, elapsedMs: () => 0, ...options }));
    }));
  describe.skipIf(POSTGRES_PROGRAMS === null)('PostgreSQL:', () =>
    suite(async () => {
      const url = await freshPostgres();
      return async (options = {}) =>
        disposable(await openWith(STATE_STORES, { url, connections: 3, ...PATIENT, ...options }));
    }),
  );
}
