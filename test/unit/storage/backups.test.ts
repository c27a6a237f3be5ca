// A backup that is put back beside journals of what came after it: it is applied; a journal of another database is renamed.
import { expect, test } from 'bun:test';
import { copyFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { generation } from '../../support/storage/storage-records.ts';

const DAY = 86_400_000;

/** Storage whose journal reaches the database only when somebody reads. */
function open(path: string, notices: string[] = [], nowMs = Date.now()): Promise<Storage> {
  const notice = (sentence: string): void => void notices.push(sentence);
  return openSqliteStorage({ path, later: () => {}, notice, now: () => nowMs });
}

/** The names of what is in the folder of journals. */
function journalsOf(path: string): readonly string[] {
  return readdirSync(join(dirname(path), 'journal')).toSorted();
}

/** Files that a process leaves behind when it is killed now. */
function leaveBehind(from: string, to: string): void {
  for (const name of journalsOf(from).filter((each) => each.endsWith('.journal')))
    copyFileSync(join(dirname(from), 'journal', name), join(dirname(to), 'journal', name));
}

/** Records of which the last is in the journal alone. */
async function append(storage: Storage, ids: readonly string[], model: string): Promise<void> {
  for (const id of ids) {
    await storage.ledger.find(id, 'key_a');
    storage.ledger.append(generation(id, { model, requestedModel: model }), []);
  }
}

/** A directory with a database, its copy of an earlier time, and the journal of a process that was killed. */
async function killed(): Promise<string> {
  const [path, running] = [freshPath(), freshPath()];
  const first = await open(running);
  await append(first, ['gen-1', 'gen-2', 'gen-3', 'gen-4'], 'vendor/model-one');
  await first.close();
  await (await open(path)).close();
  const database = openSqlite(running);
  rmSync(path);
  database.exec(`vacuum into '${path}'`);
  database.close();
  const second = await open(running);
  await append(second, ['gen-5', 'gen-6', 'gen-7', 'gen-8'], 'vendor/model-two');
  await (await open(path)).close();
  const one = await open(path);
  one.ledger.append(generation('gen-0'), []);
  leaveBehind(running, path);
  await one.close();
  await second.close();
  return path;
}

async function modelOf(storage: Storage, id: string): Promise<string | null | undefined> {
  return (await storage.ledger.find(id, 'key_a'))?.generation.model;
}

test('records that were written after the backup are imported', async () => {
  const path = await killed();
  const notices: string[] = [];
  const storage = await open(path, notices);
  expect(await modelOf(storage, 'gen-8')).toBe('vendor/model-two');
  expect(await modelOf(storage, 'gen-1')).toBe('vendor/model-one');
  expect(notices).toEqual([]);
  expect(journalsOf(path)).toEqual([]);
  await storage.close();
});

test('a journal of another database is renamed and kept', async () => {
  const [here, remote] = [freshPath(), freshPath()];
  const other = await open(remote);
  other.ledger.append(generation('gen-1'), []);
  const own = await open(here);
  own.ledger.append(generation('gen-2'), []);
  leaveBehind(remote, here);
  await own.close();
  const notices: string[] = [];
  const storage = await open(here, notices);
  const [name = ''] = journalsOf(here);
  const folder = join(dirname(here), 'journal');
  expect(notices).toEqual([
    `${join(folder, name.replace('.foreign', ''))} contains records of another database; they are not imported, and it was renamed to ${join(folder, name)}`,
  ]);
  expect(await modelOf(storage, 'gen-1')).toBeUndefined();
  expect(await modelOf(storage, 'gen-2')).toBeString();
  await storage.close();
  await other.close();
});

test('a renamed journal is deleted thirty days after its last entry', async () => {
  const [path, remote] = [freshPath(), freshPath()];
  const other = await open(remote);
  other.ledger.append(generation('gen-1'), []);
  const own = await open(path);
  own.ledger.append(generation('gen-2'), []);
  leaveBehind(remote, path);
  await own.close();
  await other.close();
  await (await open(path)).close();
  const [name = ''] = journalsOf(path);
  const writtenMs = Date.now();
  utimesSync(join(dirname(path), 'journal', name), new Date(writtenMs), new Date(writtenMs));
  await (await open(path, [], writtenMs + 30 * DAY)).close();
  expect(journalsOf(path)).toEqual([name]);
  await (await open(path, [], writtenMs + 31 * DAY)).close();
  expect(journalsOf(path)).toEqual([]);
});
