// A table and its store in one file, as somebody would add it: what tenants wrote into a guest book. It runs on both databases.
import { rowsOf, type Store } from '../../src/storage/tables/database.ts';
import { versionOf } from '../../src/storage/tables/schema.ts';
import { schemaOf, STATE_STORES } from '../../src/storage/tables/stores.ts';
import { table } from '../../src/storage/tables/table.ts';

export interface GuestBook {
  sign(projectId: string, line: string): Promise<void>;
  linesOf(projectId: string): Promise<readonly string[]>;
}

const GUEST_BOOK = table({
  name: 'guest_book',
  columns: { row: 'row', key_id: 'id', line: 'text' },
  key: ['row'],
  indexes: { guest_book_by_key: ['key_id', 'row'] },
  // A file of the sources has the number itself, one above the version of that day.
  since: versionOf(schemaOf(STATE_STORES)) + 1,
});

export const guestBook: Store<GuestBook> = {
  tables: [GUEST_BOOK],
  open({ on, write, ask }) {
    const db = on(GUEST_BOOK);
    return {
      async sign(projectId, line) {
        await write(db.insertInto('guest_book').values({ key_id: projectId, line }));
      },
      async linesOf(projectId) {
        const lines = db.selectFrom('guest_book').select('line').where('key_id', '=', projectId);
        return (await ask(() => rowsOf(lines.orderBy('row')))).map(({ line }) => line);
      },
    };
  },
};
