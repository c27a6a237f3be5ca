// Deletions by clients: nothing of what they deleted is left in the data directory, or in any table of PostgreSQL.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { Client } from 'pg';
import { startGateway, type TestGateway } from '../support/harness.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';

/** Marks of each kind of object, in its content. */
const MARKS = ['response', 'answer', 'conversation', 'item', 'file', 'prompt'].map((of) => `marker-of-${of}`);
const [RESPONSE = '', ANSWER = '', CONVERSATION = '', ITEM = '', FILE = '', PROMPT = ''] = MARKS;
/** Long enough to lie on pages of its own. */
const long = (mark: string): string => `${mark} `.repeat(2000);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'dragoman-deleted-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Makes one of each, and gives what deletes them. */
async function fill(gateway: TestGateway): Promise<() => Promise<void>> {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL, maxRetries: 0 });
  const message = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text });
  const response = await client.responses.create({
    model: 'sim/echo',
    instructions: long(RESPONSE),
    input: long(ANSWER),
  });
  const conversation = await client.conversations.create({ items: [message(long(CONVERSATION))] });
  const items = await client.conversations.items.create(conversation.id, { items: [message(long(ITEM))] });
  const file = await client.files.create({
    file: await toFile(Buffer.from(long(FILE)), 'a.txt'),
    purpose: 'user_data',
  });
  const made = await gateway.post('/prompts', { name: 'p', template: { instructions: long(PROMPT) } });
  const prompt = (await made.json()) as { id: string };
  expect(made.status).toBeLessThan(300);
  return async () => {
    await client.responses.delete(response.id);
    await client.conversations.items.delete(items.data[0]?.id ?? '', { conversation_id: conversation.id });
    await client.conversations.delete(conversation.id);
    await client.files.delete(file.id);
    const gone = await fetch(`${gateway.baseURL}/prompts/${prompt.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    expect(gone.status).toBe(200);
  };
}

/** The marks that files of the data directory hold. */
function onDisk(): readonly string[] {
  const texts = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  return MARKS.filter((mark) => texts.some((bytes) => bytes.includes(mark)));
}

test('deleted content is not on the disk after the gateway has stopped', async () => {
  const first = await startGateway({}, { dataDir });
  const remove = await fill(first);
  expect(onDisk()).toEqual(MARKS);
  await remove();
  await first.stop();
  expect(onDisk()).toEqual([]);
});

describe.skipIf(POSTGRES_PROGRAMS === null)('with PostgreSQL', () => {
  test('deleted content is in no table, and not on the disk', async () => {
    const url = await freshPostgres();
    const client = new Client({ connectionString: url });
    await client.connect();
    /** The marks that rows hold, as text or as bytes. */
    const inTables = async (): Promise<readonly string[]> => {
      const { rows: tables } = await client.query<{ name: string }>(
        `select c.oid::regclass::text as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
         where n.nspname = current_schema and relkind = 'r'`,
      );
      const found = new Set<string>();
      for (const { name } of tables)
        for (const mark of MARKS) {
          const marks = [mark, Buffer.from(mark).toString('hex')].map((text) => `%${text}%`);
          const { rows } = await client.query(
            `select 1 from ${name} as t where row_to_json(t)::text like any ($1) limit 1`,
            [marks],
          );
          if (rows.length > 0) found.add(mark);
        }
      return MARKS.filter((mark) => found.has(mark));
    };
    const gateway = await startGateway({ database_url: url, secret: 'ab'.repeat(32) }, { dataDir });
    const remove = await fill(gateway);
    expect(await inTables()).toEqual(MARKS);
    await remove();
    await gateway.stop();
    expect([await inTables(), onDisk()]).toEqual([[], []]);
    await client.end();
  });
});
