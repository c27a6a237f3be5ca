// Brings a database up to date, whichever it is: runs the steps that have not run, and says which have.
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { StateSchema } from './state/tables.ts';

export interface Migration<Tables> {
  /** Recorded when it has run: what is recorded does not run again. */
  readonly name: string;
  readonly up: (db: Kysely<Tables>) => Promise<void>;
  /**
   * True for a step after which programs that do not know it still read and write all that they know: a new table, or a
   * new column that may stay empty. Such programs open the database; others of an unknown step refuse it.
   */
  readonly isAdditive?: boolean;
}

/**
 * Brings a database up to date. Call it inside a transaction that holds a lock: two processes may start at once on
 * the same empty database.
 * @param place names the database in the error, e.g. its path
 * @param nowMs recorded with each step
 * @throws GatewayError `internal` when the database was written by a newer program that this one cannot go on for
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  place: string,
  nowMs: number,
  steps: readonly Migration<Tables>[],
): Promise<void> {
  const marks = db as unknown as Kysely<Pick<StateSchema, 'schema_migrations' | 'schema_additions'>>;
  await db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('version', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute();
  // Apart from the others: programs from before this table refuse every step that they do not know.
  await db.schema
    .createTable('schema_additions')
    .ifNotExists()
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('applied_at', 'bigint', (c) => c.notNull())
    .execute();
  const rows = await marks.selectFrom('schema_migrations').select(['version', 'name']).execute();
  const additions = await marks.selectFrom('schema_additions').select('name').execute();
  const known = new Set(steps.map(({ name }) => name));
  const foreign = rows.find(({ name }) => !known.has(name));
  if (foreign) {
    throw new GatewayError(
      'internal',
      `${place} was written by a newer Dragoman (its step '${foreign.name}' is not known to this program). Run the newer program, or start with another database.`,
    );
  }
  const done = new Set([...rows, ...additions].map(({ name }) => name));
  let version = Math.max(0, ...rows.map((row) => row.version));
  for (const step of steps) {
    if (done.has(step.name)) continue;
    await step.up(db);
    const mark = { name: step.name, applied_at: nowMs };
    if (step.isAdditive) await marks.insertInto('schema_additions').values(mark).execute();
    else {
      version += 1;
      await marks
        .insertInto('schema_migrations')
        .values({ version, ...mark })
        .execute();
    }
  }
}
