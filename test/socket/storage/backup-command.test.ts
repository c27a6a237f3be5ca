// `dragoman backup`, `verify` and `restore`, as a person runs them: on a gateway that is asked meanwhile, with its files, on both
// databases. What was answered before the backup began is there after it was put back.
import { describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { freshFolder, runProgram, startProgram, type Finished } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

const ADMIN_KEY = 'sk-test-admin-0123456789';
const SECRET = 'ab'.repeat(32);

interface Installation {
  /** Configuration of the one that is backed up, and of the one that gets the backup. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/** Makes both, and runs the commands in a folder of their own. */
async function scene({ before, after }: Installation): Promise<{
  readonly folder: string;
  readonly run: (which: 'before' | 'after', ...args: string[]) => Promise<Finished>;
  readonly start: (which: 'before' | 'after') => ReturnType<typeof startProgram>;
  readonly remove: () => void;
}> {
  const { folder, remove } = freshFolder();
  for (const [name, config] of Object.entries({ before, after })) {
    mkdirSync(join(folder, name));
    const own = { server: { admin_key: ADMIN_KEY }, data_dir: join(folder, name, 'data') };
    writeFileSync(join(folder, name, 'dragoman.yaml'), JSON.stringify({ ...own, ...config }));
  }
  return {
    folder,
    remove,
    run: (which, ...args) => runProgram(args, { folder: join(folder, which) }),
    start: (which) => startProgram(['serve', '--port', '0'], { folder: join(folder, which) }),
  };
}

async function keyOf(origin: string): Promise<string> {
  const made = await fetch(`${origin}/v1/management/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'worker' }),
  });
  return String(((await made.json()) as { key: unknown }).key);
}

async function isKept({ before, after }: Installation): Promise<void> {
  const { folder, run, start, remove } = await scene({ before, after });
  const backup = join(folder, 'backup');
  try {
    const gateway = await start('before');
    const key = await keyOf(gateway.origin);
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.origin}/v1`, maxRetries: 0 });
    const conversation = await client.conversations.create({ metadata: { topic: 'backups' } });
    const first = await client.responses.create({
      model: 'sim/echo',
      input: 'one',
      conversation: conversation.id,
    });
    const file = await client.files.create({
      file: await toFile(Buffer.from('kept'.repeat(100_000)), 'a.txt'),
      purpose: 'user_data',
    });
    // The gateway answers while the backup is made; the last answer before it may be in the journal alone.
    let isMaking = true;
    const asked = (async () => {
      let count = 0;
      while (isMaking) {
        await client.responses.create({ model: 'sim/echo', input: 'meanwhile' });
        count += 1;
      }
      return count;
    })();
    const last = await client.responses.create({ model: 'sim/echo', input: 'last' });
    const made = await run('before', 'backup', backup);
    isMaking = false;
    expect(await asked).toBeGreaterThan(0);
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('rows') });
    expect(statSync(backup).mode & 0o077).toBe(0);
    expect(await run('before', 'verify', backup)).toMatchObject({
      code: 0,
      out: expect.stringContaining('is a complete backup'),
    });
    // Not into what is in use.
    expect(await run('before', 'restore', backup)).toMatchObject({ code: 1 });
    expect(await run('before', 'backup', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });
    await gateway.stop();

    expect(await run('after', 'restore', backup)).toMatchObject({ code: 0, err: '' });
    const restored = await start('after');
    const again = new OpenAI({ apiKey: key, baseURL: `${restored.origin}/v1`, maxRetries: 0 });
    expect((await again.responses.retrieve(last.id)).id).toBe(last.id);
    expect((await again.conversations.retrieve(conversation.id)).metadata).toEqual({ topic: 'backups' });
    expect((await again.conversations.items.list(conversation.id)).data.length).toBe(2);
    expect(await (await again.files.content(file.id)).text()).toBe('kept'.repeat(100_000));
    const next = await again.responses.create({
      model: 'sim/echo',
      input: 'two',
      previous_response_id: first.id,
    });
    expect(next.previous_response_id).toBe(first.id);
    const record = await fetch(`${restored.origin}/v1/generation?id=${last.id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(record.status).toBe(200);
    await restored.stop();

    // A file that changed, and one that is gone, are found.
    const name = readFileSync(join(backup, 'SHA256SUMS'), 'utf8')
      .split('\n')
      .find((line) => !line.endsWith('backup.json'));
    const damaged = join(backup, String(name).slice(66));
    appendFileSync(damaged, 'x');
    expect(await run('before', 'verify', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not match'),
    });
    rmSync(damaged);
    expect(await run('after', 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is missing'),
    });
    rmSync(join(backup, 'SHA256SUMS'));
    expect(await run('before', 'verify', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('was interrupted'),
    });
  } finally {
    remove();
  }
}

describe('a backup', () => {
  test('of a data directory in use is complete, and equal after a restore', () =>
    isKept({ before: {}, after: {} }));

  test('of a fresh installation works, without a file and without a request', async () => {
    const { folder, run, start, remove } = await scene({ before: {}, after: {} });
    const gateway = await start('before');
    const backup = join(folder, 'backup');
    expect(await run('before', 'backup', backup)).toMatchObject({ code: 0 });
    await gateway.stop();
    expect(await run('after', 'restore', backup)).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, 'after', 'data', 'secret.key'))).toBe(true);
    remove();
  });

  test.skipIf(POSTGRES_PROGRAMS === null)(
    'of a PostgreSQL database in use is complete, and equal after a restore',
    async () => {
      const [from, to] = [await freshPostgres(), await freshPostgres()];
      await isKept({
        before: { database_url: from, secret: SECRET },
        after: { database_url: to, secret: SECRET },
      });
    },
  );
});
