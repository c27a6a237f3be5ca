// Processes that share a PostgreSQL database. A process writes only its own row, so that concurrent starts do not
// conflict.
import { sql } from 'kysely';
import type { OtherReplica, ReplicaStore } from '../../../accounts/ports/index.ts';
import type { Database, Store } from '../database.ts';
import { table, type TableDeclaration } from '../table.ts';
import type { DurationMs } from '../../../base/units.ts';

const REPLICAS = table({
  name: 'replicas',
  columns: {
    /** Name of a process. */
    name: 'id',
    /** Unix milliseconds by the server's clock. */
    until_at: 'number',
  },
  key: ['name'],
  only: 'postgres',
  isLocal: true,
});

export const replicas: Store<ReplicaStore> = {
  tables: [REPLICAS],
  open(database) {
    const { renew, others } = presence(database, REPLICAS);
    return {
      async present(self, forMs) {
        await renew(self, forMs);
        return others(self);
      },
    };
  },
};

/** Rows that processes renew, in a table with their names and the time until which each counts (`until_at`). */
export function presence({ clock, write, read }: Database, { name: table, key }: TableDeclaration) {
  const [of, name] = [sql.table(table), sql.ref(key.join())];
  const now = clock();
  return {
    /** Renews the row of a process, and removes those of dead processes. */
    async renew(self: string, forMs: DurationMs): Promise<void> {
      await write(sql`delete from ${of} where until_at < ${now}`);
      await write(sql`
        insert into ${of} (${name}, until_at) values (${self}, ${now} + ${forMs}::bigint)
        on conflict (${name}) do update set until_at = excluded.until_at`);
    },
    /** Other live processes. */
    others: (self: string): Promise<readonly OtherReplica[]> =>
      read(sql<OtherReplica>`select ${name} as name, until_at as until from ${of}
        where ${name} <> ${self} and until_at > ${now} order by ${name}`),
  };
}
