// The first tables of a PostgreSQL database; newer stores bring their own. Only ever add to this list: a step that has run on
// somebody's database is history. Steps are additive: older programs run beside this one while it is rolled out.
import { type CreateTableBuilder, type Kysely, type RawBuilder, sql } from 'kysely';
import { makeChangeNumbers, numberChanges } from './changes.ts';
import type { Migration, PostgresSchema } from './store.ts';

export const MIGRATIONS: readonly Migration[] = [
  { name: 'settings', isAdditive: true, up: settings },
  { name: 'keys and projects', isAdditive: true, up: keysAndProjects },
];

/** An id: compared byte by byte, whatever language the database sorts in. */
export const ID: RawBuilder<unknown> = sql`text collate "C"`;

async function settings(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();
}

async function keysAndProjects(db: Kysely<PostgresSchema>): Promise<void> {
  await makeChangeNumbers(db);
  await tenant(db.schema.createTable('keys'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hash', ID, (c) => c.notNull().unique())
    .addColumn('hint', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('models', 'text')
    .addColumn('log_content', 'integer', (c) => c.notNull())
    .addColumn('routing', 'text')
    .addColumn('strict', 'integer')
    .addColumn('project_id', ID)
    .addColumn('roles', 'text')
    .addColumn('previous_hash', ID)
    .addColumn('previous_until', 'bigint')
    .execute();
  await tenant(db.schema.createTable('projects')).addColumn('archived_at', 'bigint').execute();
  for (const table of ['keys', 'projects'] as const) {
    await db.schema.createIndex(`${table}_in_order`).on(table).columns(['created_at', 'id']).execute();
    await db.schema.createIndex(`${table}_by_change`).on(table).column('changed').execute();
    await numberChanges(db, table);
  }
  await db.schema.createIndex('keys_by_name').on('keys').column('name').execute();
  await db.schema
    .createIndex('keys_by_project')
    .on('keys')
    .columns(['project_id', 'created_at', 'id'])
    .execute();
}

/** What keys and projects have in common. */
function tenant<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table> {
  return table
    .addColumn('id', ID, (c) => c.primaryKey())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint')
    .addColumn('limits', 'text')
    .addColumn('budgets', 'text')
    .addColumn('version', 'integer', (c) => c.notNull().defaultTo(1))
    .addColumn('changed', 'bigint', (c) => c.notNull().defaultTo(0));
}
