// Stores that only several processes of one PostgreSQL database have.
import { describe } from 'bun:test';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { disposable } from '../../support/disposable.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

const { findings, interruptedTries, notices, replicas } = POSTGRES_STORES;

/** Opens the same database once more, as a process does. */
type OpenShared = () => ReturnType<typeof openShared>;

async function openShared(url: string) {
  const stores = { findings, interruptedTries, notices, replicas };
  return disposable(await openWith(stores, { url, connections: 3, ...PATIENT }));
}

/** Runs a suite where PostgreSQL is installed. @param suite given what makes an empty database */
export function describePostgres(suite: (fresh: () => Promise<OpenShared>) => void): void {
  describe.skipIf(POSTGRES_PROGRAMS === null)('PostgreSQL:', () =>
    suite(async () => {
      const url = await freshPostgres();
      return () => openShared(url);
    }),
  );
}
