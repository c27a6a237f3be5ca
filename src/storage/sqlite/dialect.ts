// Lets Kysely build and run queries over our SQLite connection. Kysely's own SQLite dialect asks for the shape
// of another driver; this adapts ours to it. Knows no tables.
import { type SqliteDatabase, SqliteDialect } from 'kysely';
import type { SqlConnection, SqlStatement, SqlValue } from '../../runtime/sqlite.ts';

/** A dialect over an open connection. Destroying the Kysely instance closes the connection. */
export function sqliteDialect(connection: SqlConnection): SqliteDialect {
  // Kysely prepares anew for every execution. The set of query texts is small and fixed, so keep them.
  const prepared = new Map<string, SqlStatement>();
  const database: SqliteDatabase = {
    close: () => connection.close(),
    prepare(text) {
      let statement = prepared.get(text);
      if (!statement) {
        statement = connection.prepare(text);
        // Lists of differing length make differing texts; schema statements run once.
        if (prepared.size < 100) prepared.set(text, statement);
      }
      const { reader, run, all } = statement;
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
