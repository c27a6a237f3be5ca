// Stores that only several processes of one PostgreSQL database have.
import { describe } from 'bun:test';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

const { findings, interruptedTries, notices, replicas } = POSTGRES_STORES;

/** Opens the same database once more, as a process does. */
type OpenShared = () => ReturnType<typeof openShared>;

function openShared(url: string) {
  return openWith({ findings, interruptedTries, notices, replicas }, { url, connections: 3, ...PATIENT });
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
