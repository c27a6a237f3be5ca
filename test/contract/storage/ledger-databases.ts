// The databases that records and sums are kept in: what holds for one holds for the other. Tests run for each that is here.
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { CompiledQuery } from 'kysely';
import { openWith as openPostgres } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { openWith as openSqlite } from '../../../src/storage/sqlite/storage.ts';
import { STATE_STORES } from '../../../src/storage/tables/stores.ts';
import type { Database } from '../../../src/storage/tables/database.ts';
import { disposable } from '../../support/disposable.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { freshPath, lookingClock } from '../../support/storage/storage-directory.ts';

export type LedgerStorage = Pick<Storage, 'ledger' | 'usage' | 'close'>;

/** One whose sums can be made wrong. */
export interface DamagedStorage extends LedgerStorage, AsyncDisposable {
  readonly damage: () => Promise<void>;
}

function damage({ ask }: Database): DamagedStorage['damage'] {
  return () =>
    ask(function* () {
      yield CompiledQuery.raw('update usage set requests = requests + 1, nano_usd = 7');
    });
}

/** Opens one database; several times, as several processes do. */
export type OpenLedger = () => Promise<LedgerStorage>;

export interface LedgerDatabase {
  readonly name: string;
  /** True where records are deleted by whole days. */
  readonly dropsDays: boolean;
  /** Examples that a test of properties tries: some databases take longer to make. */
  readonly runs: number;
  /** An empty one. */
  readonly fresh: () => Promise<() => Promise<DamagedStorage>>;
}

const SQLITE: LedgerDatabase = {
  name: 'SQLite',
  dropsDays: false,
  runs: 15,
  fresh: async () => {
    const path = freshPath();
    const stores = { ...STATE_STORES, damage: { open: damage } };
    return async () =>
      disposable(await openSqlite(stores, { path, later: () => {}, elapsedMs: lookingClock(0.3) }));
  },
};

const POSTGRES: LedgerDatabase = {
  name: 'PostgreSQL',
  dropsDays: true,
  runs: 2,
  fresh: async () => {
    const url = await freshPostgres();
    const stores = { ...POSTGRES_STORES, damage: { open: damage } };
    return async () => disposable(await openPostgres(stores, { url, later: () => {}, ...PATIENT }));
  },
};

export const LEDGER_DATABASES: readonly LedgerDatabase[] = [
  SQLITE,
  ...(POSTGRES_PROGRAMS === null ? [] : [POSTGRES]),
];
