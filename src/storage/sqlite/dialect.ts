// Lets Kysely build and run queries over our SQLite connection. Kysely's own SQLite dialect asks for the shape
// of another driver; this adapts ours to it. Knows no tables.
import { type SqliteDatabase, SqliteDialect } from 'kysely';
import type { SqlConnection, SqlValue } from '../../base/runtime/sqlite.ts';

/** A dialect over an open connection. Destroying the Kysely instance closes the connection. */
export function sqliteDialect(connection: SqlConnection): SqliteDialect {
  const database: SqliteDatabase = {
    close: () => connection.close(),
    prepare(text) {
      const { reader, run, all } = connection.prepare(text);
      return {
        reader,
        run: (values) => run(...(values as readonly SqlValue[])),
        all: (values) => all(...(values as readonly SqlValue[])),
        iterate: (values) => all(...(values as readonly SqlValue[])).values(),
      };
    },
  };
  return new SqliteDialect({ database });
}
