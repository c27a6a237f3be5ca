// The first tables of a PostgreSQL database; newer stores bring their own. Only ever add to this list: a step that has run on
// somebody's database is history. Steps are additive: older programs run beside this one while it is rolled out.
import type { CreateTableBuilder, Kysely } from 'kysely';
import { makeChangeNumbers, numberChanges } from './changes.ts';
import { ID } from './columns.ts';
import type { Migration, PostgresSchema } from './store.ts';

export const MIGRATIONS: readonly Migration[] = [
  { name: 'settings', isAdditive: true, up: settings },
  { name: 'keys and projects', isAdditive: true, up: keysAndProjects },
  { name: 'sealed turns', isAdditive: true, up: vault },
  { name: 'stored responses, conversations, prompts and files', isAdditive: true, up: stored },
  { name: 'what keys say of content', isAdditive: true, up: contentOfKeys },
];

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

async function vault(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema
    .createTable('vault')
    .addColumn('key_id', ID, (c) => c.notNull())
    .addColumn('call_id', ID, (c) => c.notNull())
    .addColumn('sealed', 'bytea', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('vault_key', ['key_id', 'call_id'])
    .execute();
  await db.schema.createIndex('vault_by_expiry').on('vault').column('expires_at').execute();
}

async function stored(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema
    .createTable('state_usage')
    .addColumn('key_id', ID, (c) => c.primaryKey())
    .addColumn('responses', 'bigint', (c) => c.notNull())
    .addColumn('kept', 'bigint', (c) => c.notNull())
    .execute();
  await thing(db.schema.createTable('responses'))
    .addColumn('previous_id', ID)
    .addColumn('conversation_id', ID)
    .addColumn('places', 'text', (c) => c.notNull())
    .addColumn('response', 'text', (c) => c.notNull())
    .addColumn('input', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('responses_by_key')
    .on('responses')
    .columns(['key_id', 'expires_at', 'row'])
    .execute();
  await db.schema
    .createTable('response_ids')
    .addColumn('place', ID, (c) => c.notNull())
    .addColumn('key_id', ID, (c) => c.notNull())
    .addColumn('response_row', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('response_ids_key', ['place', 'key_id', 'response_row'])
    .execute();
  await thing(db.schema.createTable('conversations'))
    .addColumn('turn_id', ID)
    .addColumn('turn_until', 'bigint')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('conversation_items')
    .addColumn('row', 'bigint', (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('conversation_row', 'bigint', (c) => c.notNull())
    .addColumn('key_id', ID, (c) => c.notNull())
    .addColumn('item_id', ID)
    .addColumn('bytes', 'bigint', (c) => c.notNull())
    .addColumn('item', 'text', (c) => c.notNull())
    .addUniqueConstraint('conversation_items_by_id', ['key_id', 'item_id', 'conversation_row'])
    .execute();
  await db.schema
    .createIndex('conversation_items_in_order')
    .on('conversation_items')
    .columns(['conversation_row', 'row'])
    .execute();
  await thing(db.schema.createTable('prompts'), false)
    .addColumn('name', 'text')
    .addColumn('default_version', 'integer', (c) => c.notNull())
    .addColumn('last_version', 'integer', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('prompt_versions')
    .addColumn('prompt_row', 'bigint', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('bytes', 'bigint', (c) => c.notNull())
    .addColumn('template', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('prompt_versions_key', ['prompt_row', 'version'])
    .execute();
  await thing(db.schema.createTable('files'))
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('media_type', 'text', (c) => c.notNull())
    .execute();
  for (const table of ['prompts', 'files'] as const)
    await db.schema.createIndex(`${table}_by_key`).on(table).columns(['key_id', 'row']).execute();
  for (const table of ['responses', 'conversations', 'files'] as const)
    await db.schema.createIndex(`${table}_by_expiry`).on(table).columns(['expires_at', 'row']).execute();
}

async function contentOfKeys(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('content_as_configured', 'integer').execute();
}

/** What stored things have in common. Their numbers grow with each that is made. */
function thing<Table extends string>(
  table: CreateTableBuilder<Table>,
  expires = true,
): CreateTableBuilder<Table> {
  const common = table
    .addColumn('row', 'bigint', (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('id', ID, (c) => c.notNull().unique())
    .addColumn('key_id', ID, (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('bytes', 'bigint', (c) => c.notNull());
  return expires ? common.addColumn('expires_at', 'bigint', (c) => c.notNull()) : common;
}
