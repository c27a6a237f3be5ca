// Change numbers. Triggers set the column `changed` of keys and projects to a number greater than all before. In PostgreSQL
// a change locks the last number until it commits, so that numbers become visible in order.
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { type Table, table } from '../table.ts';

/** Last assigned numbers. */
export const CHANGE_NUMBERS = table({
  name: 'change_numbers',
  columns: { of: 'text', number: 'number' },
  key: ['of'],
  only: 'postgres',
  isLocal: true,
  extras: {
    postgres: [
      `create function number_change() returns trigger language plpgsql as $$
      begin
        insert into change_numbers as c (of, number) values (tg_table_name, 1)
          on conflict (of) do update set number = c.number + 1
          returning number into new.changed;
        return new;
      end
      $$`,
    ],
  },
});

/** Triggers for a table with a column `changed`. */
export function numbering(name: string): NonNullable<Table['extras']> {
  const next = `update ${name} set changed = (select max(changed) + 1 from ${name}) where id = new.id`;
  return {
    sqlite: [
      `create trigger ${name}_inserted after insert on ${name} begin ${next}; end`,
      `create trigger ${name}_updated after update on ${name} when new.changed = old.changed begin ${next}; end`,
    ],
    postgres: [
      `create trigger number_change before insert or update on ${name} for each row execute function number_change()`,
    ],
  };
}

/** Greatest change number of a table. Read every second. */
export function greatestChange({ readFirst }: Database, name: string): () => Promise<number> {
  const greatest = statement(
    () => sql<{ mark: number | null }>`select max(changed) as mark from ${sql.table(name)}`,
  );
  return async () => (await readFirst(greatest({})))?.mark ?? 0;
}
