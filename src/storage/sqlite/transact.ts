// Several queries as one transaction of SQLite: none of them waits, so they are one write among others.
import type { CompiledQuery } from 'kysely';
import type { SqlStatement, SqlValue } from '../../runtime/sqlite.ts';
import type { Transact } from '../state/transact.ts';
import type { SqliteBase } from './store.ts';

/** Texts of queries whose statements are kept: those that differ by what is changed are few. */
const MOST_STATEMENTS = 100;

export function transactOf({ connection, commits }: Pick<SqliteBase, 'connection' | 'commits'>): Transact {
  const prepared = new Map<string, SqlStatement>();
  const rowsOf = ({ sql, parameters }: CompiledQuery): readonly object[] => {
    let statement = prepared.get(sql);
    if (!statement) {
      statement = connection.prepare(sql);
      if (prepared.size < MOST_STATEMENTS) prepared.set(sql, statement);
    }
    return statement.all(...(parameters as readonly SqlValue[]));
  };
  return (queries) =>
    commits.run(() => {
      const asking = queries();
      let asked = asking.next([]);
      while (!asked.done) asked = asking.next(rowsOf(asked.value));
      return asked.value;
    });
}
