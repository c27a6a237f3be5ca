// Statements that are compiled once, because building a query with Kysely takes ten times as long as running it in SQLite.
import type { CompiledQuery } from 'kysely';
import { compiled, type Query } from './database.ts';

/** Placeholder for a value in a compiled statement. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const SLOTS = new Proxy({}, { get: (_, name) => new Slot(String(name)) });

/**
 * Compiles a query on first use.
 * @param build builds the query; gets a placeholder for each variable value, typed as the value
 */
export function statement<Values extends object, Row>(
  build: (values: Values) => Query<Row>,
): (values: Values) => Query<Row> {
  let known: CompiledQuery<Row> | undefined;
  let names: readonly (string | null)[] = [];
  return (values) => ({
    compile(database) {
      if (!known) {
        known = compiled(build(SLOTS as Values), database);
        names = known.parameters.map((value) => (value instanceof Slot ? value.name : null));
      }
      const given = values as Readonly<Record<string, unknown>>;
      const parameters: unknown[] = [];
      for (let at = 0; at < names.length; at += 1) {
        const name = names[at] ?? null;
        parameters.push(name === null ? known.parameters[at] : given[name]);
      }
      const { sql, query, queryId } = known;
      return { sql, query, queryId, parameters };
    },
  });
}
