// A table and its store in one file, as somebody would add it: what tenants wrote into a guest book.
import type { Kysely } from 'kysely';
import type { SqliteStore } from '../../src/storage/sqlite/store.ts';

export interface GuestBook {
  sign(projectId: string, line: string): Promise<void>;
  linesOf(projectId: string): Promise<readonly string[]>;
}

/** Only this store knows the table. */
interface Tables {
  guest_book: { key_id: string; line: string };
}

export const guestBook: SqliteStore<GuestBook> = {
  migrations: [
    {
      name: 'a guest book',
      up: (db) =>
        db.schema
          .createTable('guest_book')
          .addColumn('key_id', 'text', (c) => c.notNull())
          .addColumn('line', 'text', (c) => c.notNull())
          .execute(),
    },
  ],
  open({ connection, db, commits }) {
    const tables = db as unknown as Kysely<Tables>;
    const insert = connection.prepare(
      tables.insertInto('guest_book').values({ key_id: '', line: '' }).compile().sql,
    );
    return {
      sign: (projectId, line) => commits.add(() => void insert.run(projectId, line)),
      async linesOf(projectId) {
        const rows = await tables
          .selectFrom('guest_book')
          .select('line')
          .where('key_id', '=', projectId)
          .orderBy('line')
          .execute();
        return rows.map(({ line }) => line);
      },
    };
  },
};
