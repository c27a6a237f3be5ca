// The steps from an empty database to its first tables; newer stores bring their own. Only ever add to this list: a step that has run on
// somebody's machine is history. Steps create tables, columns and indexes; they never rewrite large tables,
// because the gateway does not listen before they are done.
import { type Kysely, sql } from 'kysely';
import type { Migration as Step } from '../migrate.ts';
import type { Schema } from './schema.ts';

export type Migration = Step<Schema>;

export const MIGRATIONS: readonly Migration[] = [
  { name: 'first tables', up: firstTables },
  { name: 'routing of keys', up: routingOfKeys },
  { name: 'stored responses, conversations and prompts', up: stateTables },
  { name: 'uploaded files', up: filesTable },
  { name: 'strictness of keys', up: strictnessOfKeys },
  { name: 'records in few bytes', up: compactRecords },
  { name: 'projects, limits and rotation of keys', up: projectsOfKeys, isAdditive: true },
  { name: 'projects, and which keys have changed', up: projects, isAdditive: true },
  { name: 'what keys say of content', up: contentOfKeys, isAdditive: true },
];

async function firstTables(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('generations')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('model', 'text')
    .addColumn('provider', 'text')
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('input_tokens', 'integer')
    .addColumn('output_tokens', 'integer')
    .addColumn('cost_usd', 'real')
    .addColumn('record', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('generations_by_key')
    .on('generations')
    .columns(['key_id', 'created_at'])
    .execute();
  await db.schema
    .createTable('attempts')
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('generation_id', 'text', (c) => c.notNull())
    .addColumn('ordinal', 'integer', (c) => c.notNull())
    .addColumn('provider', 'text', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('record', 'text', (c) => c.notNull())
    // Generations' ids begin with the time: new rows go to the end of the index. Random attempt ids would spread
    // over it, and every record would cost a page of the log.
    .addPrimaryKeyConstraint('attempts_of_generation', ['generation_id', 'ordinal'])
    .execute();
  await db.schema
    .createTable('generation_contents')
    .addColumn('generation_id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('request', 'text', (c) => c.notNull())
    .addColumn('answer', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('hint', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer')
    .addColumn('revoked_at', 'integer')
    .addColumn('models', 'text')
    .addColumn('log_content', 'integer', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('vault')
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('call_id', 'text', (c) => c.notNull())
    .addColumn('sealed', 'blob', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('vault_key', ['key_id', 'call_id'])
    .execute();
  await db.schema.createIndex('vault_by_expiry').on('vault').column('expires_at').execute();
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute();
}

async function routingOfKeys(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('routing', 'text').execute();
}

async function strictnessOfKeys(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('strict', 'integer').execute();
}

async function projectsOfKeys(db: Kysely<Schema>): Promise<void> {
  for (const column of ['project_id', 'roles', 'limits', 'budgets', 'previous_hash'])
    await db.schema.alterTable('keys').addColumn(column, 'text').execute();
  for (const column of ['previous_until', 'updated_at'])
    await db.schema.alterTable('keys').addColumn(column, 'integer').execute();
  await db.schema
    .alterTable('keys')
    .addColumn('version', 'integer', (c) => c.notNull().defaultTo(1))
    .execute();
}

async function projects(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('projects')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('updated_at', 'integer', (c) => c.notNull())
    .addColumn('archived_at', 'integer')
    .addColumn('limits', 'text')
    .addColumn('budgets', 'text')
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('changed', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('keys')
    .addColumn('changed', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  for (const table of ['projects', 'keys'] as const) {
    await db.schema.createIndex(`${table}_in_order`).on(table).columns(['created_at', 'id']).execute();
    await db.schema.createIndex(`${table}_by_change`).on(table).column('changed').execute();
    const [all, id, changed] = [sql.table(table), sql.ref('id'), sql.ref('changed')];
    const mark = sql`update ${all} set ${changed} = (select max(${changed}) + 1 from ${all}) where ${id} = new.id`;
    await sql`create trigger ${sql.id(`${table}_inserted`)} after insert on ${all} begin ${mark}; end`.execute(
      db,
    );
    await sql`create trigger ${sql.id(`${table}_updated`)} after update on ${all} when new.changed = old.changed begin ${mark}; end`.execute(
      db,
    );
  }
  await db.schema.createIndex('keys_by_name').on('keys').column('name').execute();
  await db.schema
    .createIndex('keys_by_project')
    .on('keys')
    .columns(['project_id', 'created_at', 'id'])
    .execute();
}

async function stateTables(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('responses')
    // Named, because only a named row number outlives `vacuum`.
    .addColumn('row', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addColumn('previous_id', 'text')
    .addColumn('conversation_id', 'text')
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('places', 'text', (c) => c.notNull())
    .addColumn('response', 'text', (c) => c.notNull())
    .addColumn('input', 'text', (c) => c.notNull())
    .execute();
  // One index for the quota and for the purge.
  await db.schema.createIndex('responses_by_key').on('responses').columns(['key_id', 'expires_at']).execute();
  await db.schema
    .createTable('response_ids')
    .addColumn('place', 'text', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('response_row', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('response_ids_key', ['place', 'key_id', 'response_row'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createTable('conversations')
    .addColumn('row', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('turn_id', 'text')
    .addColumn('turn_until', 'integer')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('conversations_by_expiry').on('conversations').column('expires_at').execute();
  await db.schema
    .createTable('conversation_items')
    .addColumn('row', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('conversation_row', 'integer', (c) => c.notNull())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('item_id', 'text')
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('item', 'text', (c) => c.notNull())
    .addUniqueConstraint('conversation_items_by_id', ['key_id', 'item_id', 'conversation_row'])
    .execute();
  // SQLite's indexes end with the row number, which is the order of the items.
  await db.schema
    .createIndex('conversation_items_in_order')
    .on('conversation_items')
    .column('conversation_row')
    .execute();
  await db.schema
    .createTable('prompts')
    .addColumn('row', 'integer', (c) => c.primaryKey().notNull())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('name', 'text')
    .addColumn('default_version', 'integer', (c) => c.notNull())
    .addColumn('last_version', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('prompts_by_key').on('prompts').column('key_id').execute();
  await db.schema
    .createTable('prompt_versions')
    .addColumn('prompt_row', 'integer', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('template', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('prompt_versions_key', ['prompt_row', 'version'])
    .execute();
  await db.schema
    .createTable('state_usage')
    .addColumn('key_id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('responses', 'integer', (c) => c.notNull())
    .addColumn('kept', 'integer', (c) => c.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function filesTable(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('files')
    .addColumn('row', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('media_type', 'text', (c) => c.notNull())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('files_by_key').on('files').column('key_id').execute();
  await db.schema.createIndex('files_by_expiry').on('files').column('expires_at').execute();
}

async function contentOfKeys(db: Kysely<Schema>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('content_as_configured', 'integer').execute();
}

/** The records of before stay where they are, and are found there. */
async function compactRecords(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('names')
    // Never given twice: rows that were read from a journal late must not mean another text.
    .addColumn('number', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('text', 'text', (c) => c.notNull().unique())
    .execute();
  await db.schema
    .createTable('records')
    // A column of blobs takes texts as well, as they are.
    .addColumn('id', 'blob', (c) => c.notNull())
    .addColumn('key', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('model', 'integer')
    .addColumn('provider', 'integer')
    .addColumn('status', 'integer', (c) => c.notNull())
    .addColumn('input_tokens', 'integer')
    .addColumn('output_tokens', 'integer')
    .addColumn('cost_usd', 'real')
    .addColumn('record', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('records_by_id', ['id'])
    .modifyEnd(sql`without rowid`)
    .execute();
  // The id comes next in it, and begins with the time: the records of a key lie in their order.
  await db.schema.createIndex('records_by_key').on('records').column('key').execute();
}
