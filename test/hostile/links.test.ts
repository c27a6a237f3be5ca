// A link that somebody else put where the database is to be.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';

test('a database is refused if it is a link in a directory that others can write to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-links-'));
  try {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const victim = join(folder, 'victim');
    writeFileSync(victim, '');
    symlinkSync(victim, join(open, 'dragoman.db'));
    const refused = await openSqliteStorage({ path: join(open, 'dragoman.db') }).catch(String);
    expect(refused).toContain('is a link');
    expect(readFileSync(victim, 'utf8')).toBe('');
    chmodSync(open, 0o700);
    await (await openSqliteStorage({ path: join(open, 'dragoman.db') })).close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
