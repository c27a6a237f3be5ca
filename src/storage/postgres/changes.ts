// Since when something has changed: keys and projects are numbered by their changes. Whoever changes one holds the row of the
// number until it commits, so numbers become visible in their order: a mark that was read has nothing before it that was not.
import { type Kysely, sql } from 'kysely';
import type { PostgresSchema } from './store.ts';

/** The greatest number of a change in a table. Asked every second. */
export function greatestChange(
  db: Kysely<PostgresSchema>,
  table: 'keys' | 'projects',
): () => Promise<number> {
  return async () => {
    const row = await db
      .selectFrom(table)
      .select((eb) => eb.fn.max('changed').as('mark'))
      .executeTakeFirst();
    return row?.mark ?? 0;
  };
}

/** Numbers the changes of a table from now on. */
export async function numberChanges(db: Kysely<PostgresSchema>, table: 'keys' | 'projects'): Promise<void> {
  await sql`create trigger number_change before insert or update on ${sql.table(table)} for each row execute function number_change()`.execute(
    db,
  );
}

/** The function of those triggers, and the numbers that were given last. */
export async function makeChangeNumbers(db: Kysely<PostgresSchema>): Promise<void> {
  await sql`create table change_numbers (of text primary key, number bigint not null)`.execute(db);
  await sql`
    create function number_change() returns trigger language plpgsql as $$
    begin
      insert into change_numbers as c (of, number) values (tg_table_name, 1)
        on conflict (of) do update set number = c.number + 1
        returning number into new.changed;
      return new;
    end
    $$`.execute(db);
}
