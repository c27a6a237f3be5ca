// Since when something has changed: keys and projects are numbered by their changes, by triggers of the database.
import type { SqliteBase } from './store.ts';

/** The greatest number of a change in a table. Asked every second: compiled once. */
export function greatestChange(
  { connection, db }: Pick<SqliteBase, 'connection' | 'db'>,
  table: 'keys' | 'projects',
): () => Promise<number> {
  const query = db.selectFrom(table).select((eb) => eb.fn.max('changed').as('mark'));
  const statement = connection.prepare(query.compile().sql);
  return async () => Number(statement.all()[0]?.['mark'] ?? 0);
}
