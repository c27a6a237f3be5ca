// Two versions beside each other on one database, as during a rollout: a newer one has added tables and columns, and the program
// of now goes on beside it, and starts beside it, too. What it cannot understand it leaves alone.
import { expect, describe, test } from 'bun:test';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES, schemaOf } from '../../../src/storage/tables/stores.ts';
import { type Database, rowsOf, type Store } from '../../../src/storage/tables/database.ts';
import { versionOf } from '../../../src/storage/tables/schema.ts';
import { table } from '../../../src/storage/tables/table.ts';
import { startManaged, type ManagedGateway } from '../../support/management/scene.ts';
import { eventually } from '../../support/program.ts';
import { rejection } from '../../support/rejection.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { undoAfterEach } from '../../support/undo.ts';

const SECRET = 'ab'.repeat(32);

const ends = undoAfterEach();

/** Tables whose rows a newer program could want to say more about. */
const EXTENDED =
  'alerts audit batch_asked batch_lines batches blobs conversation_items conversations doctor_findings files job_steps job_streams jobs keys payloads projects record_contents records response_ids responses settings state_usage usage usage_end_users usage_groups vault webhooks'.split(
    ' ',
  );

/** The schema version behind that of this program. */
const NEXT = versionOf(schemaOf(POSTGRES_STORES)) + 1;

/** Schema of a newer program: a column in each of them, with an index, and a table of its own. */
const newer = (oldestProgram?: string): Store<Database> => ({
  tables: [table({ name: 'things_to_come', columns: { id: 'id' }, key: ['id'], since: NEXT })],
  changes: [
    {
      version: NEXT,
      ...(oldestProgram !== undefined && { oldestProgram }),
      up: {
        postgres: EXTENDED.flatMap((name) => [
          `alter table ${name} add column to_come text, add column counted integer not null default 7`,
          `create index on ${name} (to_come)`,
        ]),
      },
    },
  ],
  open: (database) => database,
});

describe.skipIf(POSTGRES_PROGRAMS === null)('beside a newer program', () => {
  test('that has only added to the database, this program serves, stores, records and starts as before', async () => {
    const url = await freshPostgres();
    const config = { database_url: url, secret: SECRET, logging: { content: true } };
    const start = async (): Promise<ManagedGateway> => {
      const gateway = await startManaged(config);
      ends.push(() => gateway.close());
      return gateway;
    };
    const before = await start();
    await works(before);
    const { database, ...future } = await openWith({ ...POSTGRES_STORES, database: newer() }, { url });
    ends.push(() => future.close());
    await works(before);
    const after = await start();
    await works(after);
    await works(before);

    // The newer one finds its columns in all that the older ones have written since.
    for (const table of EXTENDED) {
      const strange = sql`select 1 from ${sql.table(table)} where to_come is not null or counted <> 7`;
      const rows = await database.ask(() => rowsOf(strange));
      expect([table, rows.length]).toEqual([table, 0]);
    }
  });

  test('that has changed existing tables, this program does not start, and gives the reason', async () => {
    const url = await freshPostgres();
    const future = await openWith(
      { ...POSTGRES_STORES, database: newer('99.0.0') },
      { url, program: '99.0.0' },
    );
    await future.close();
    const error = await rejection(startManaged({ database_url: url, secret: SECRET }));
    expect(String(error)).toContain('requires Dragoman 99.0.0 or newer');
  });
});

/** Everything that writes: keys, stored answers, a conversation, a file, records and sums. */
async function works(gateway: ManagedGateway): Promise<void> {
  const made = await gateway.manage('POST', '/keys', {
    name: 'worker',
    log_content: true,
  });
  expect(made).toMatchObject({ status: 201 });
  const client = new OpenAI({ apiKey: String(made.body['key']), baseURL: gateway.baseURL, maxRetries: 0 });
  const conversation = await client.conversations.create({});
  const first = await client.responses.create({
    model: 'sim/echo',
    input: 'one',
    conversation: conversation.id,
    safety_identifier: 'ann',
  });
  const next = await client.responses.create({
    model: 'sim/echo',
    input: 'two',
    previous_response_id: first.id,
  });
  expect((await client.responses.retrieve(next.id)).previous_response_id).toBe(first.id);
  expect((await client.conversations.items.list(conversation.id)).data.length).toBe(2);
  const file = await client.files.create({ file: new File(['text'], 'a.txt'), purpose: 'user_data' });
  expect(await (await client.files.content(file.id)).text()).toBe('text');
  expect((await client.files.delete(file.id)).deleted).toBe(true);
  const id = String(made.body['id']);
  await eventually('the records are there', async () => {
    const { body } = await gateway.manage('GET', `/generations?key=${id}`);
    return (body['data'] as readonly unknown[]).length === 2;
  });
  const { body } = await gateway.manage('GET', `/usage?group_by=key&key=${id}`);
  expect(body['data']).toMatchObject([{ requests: 2 }]);
  expect((await gateway.manage('DELETE', `/keys/${id}`)).status).toBe(200);
}
