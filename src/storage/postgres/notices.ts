// Notices between the processes of one database, by LISTEN and NOTIFY (PostgreSQL 16, chapter "NOTIFY", 2026-11: a payload is
// shorter than 8,000 bytes). Who wants to hear says so in a table: a connection that only listens costs the server a process.
import { type Kysely, sql } from 'kysely';
import type { NoticeListener, NoticeStore } from '../notice-ports.ts';
import { ID } from './columns.ts';
import type { PostgresBase, PostgresStore } from './store.ts';

/** Only this store knows the table. */
interface Tables {
  notices_wanted: {
    /** Names a process. */
    id: string;
    /** Unix milliseconds, by the server's clock. */
    until_at: number;
  };
}

const SERVER_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

class PostgresNotices implements NoticeStore {
  readonly #tables: Kysely<Tables>;
  readonly #listen: PostgresBase['listen'];

  constructor({ db, listen }: PostgresBase) {
    this.#tables = db as unknown as Kysely<Tables>;
    this.#listen = listen;
  }

  async want(self: string, forMs: number): Promise<void> {
    const until = sql<number>`${SERVER_MS} + ${forMs}::bigint`;
    await this.#tables.deleteFrom('notices_wanted').where('until_at', '<', SERVER_MS).execute();
    await this.#tables
      .insertInto('notices_wanted')
      .values({ id: self, until_at: until })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ until_at: until }))
      .execute();
  }

  async isWanted(self: string): Promise<boolean> {
    const found = await this.#tables
      .selectFrom('notices_wanted')
      .select('id')
      .where('id', '<>', self)
      .where('until_at', '>', SERVER_MS)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }

  async send(text: string): Promise<void> {
    await sql`select pg_notify(${CHANNEL}, ${text})`.execute(this.#tables);
  }

  async hear(heard: (text: string) => void): Promise<NoticeListener> {
    const { rows } = await sql<{ channel: string }>`select ${CHANNEL} as channel`.execute(this.#tables);
    return this.#listen(rows[0]?.channel ?? '', heard);
  }
}

/** Schemas of one database are installations of their own, and their names may be too long. */
const CHANNEL = sql<string>`'dragoman_' || md5(current_schema())`;

export const postgresNotices: PostgresStore<NoticeStore> = {
  migrations: [
    {
      name: 'who wants notices',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('notices_wanted')
          .addColumn('id', ID, (column) => column.primaryKey())
          .addColumn('until_at', 'bigint', (column) => column.notNull())
          .execute(),
    },
  ],
  open: (base) => new PostgresNotices(base),
};
