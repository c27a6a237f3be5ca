// The journal of records: what it took is never lost, whatever happens to its process, its file or the database.
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  END_BYTES,
  type Entry,
  ORIGIN_ENTRY,
  readEntries,
  writeEntry,
} from '../../../src/storage/journal/entries.ts';
import { Journal, type JournalTarget } from '../../../src/storage/journal/journal.ts';
import { JournalFolder } from '../../../src/storage/journal/journal-folder.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

/** Storage whose journal reaches the database only when somebody reads. */
function openLazily(path: string, notice: (sentence: string) => void = () => {}): Promise<Storage> {
  return openSqliteStorage({ path, later: () => {}, notice });
}

function journalsOf(path: string): string[] {
  const folder = join(dirname(path), 'journal');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.journal'))
    .map((name) => join(folder, name));
}

/** A data directory with a journal of these bytes and an empty database. */
function leftBehind(bytes: Uint8Array): string {
  const path = freshPath();
  const folder = join(dirname(path), 'journal');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'left.journal'), bytes);
  return path;
}

async function countOf(storage: Storage, ids: readonly string[]): Promise<number> {
  const found = await Promise.all(ids.map((id) => storage.ledger.find(id, 'key_a')));
  return found.filter((record) => record !== null).length;
}

/** A journal as earlier versions wrote it: of whichever database. */
function withoutOrigin(bytes: Buffer): Buffer<ArrayBuffer> {
  const made = Buffer.alloc(bytes.length);
  const { entries } = readEntries(bytes);
  const end = entries
    .filter(({ kind }) => kind !== ORIGIN_ENTRY)
    .reduce((at, { kind, content }) => writeEntry(made, at, kind, content), 0);
  return made.subarray(0, end + END_BYTES);
}

/** Bytes of a journal with three records. */
async function threeRecords(): Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly ids: string[] }> {
  const path = freshPath();
  const storage = await openLazily(path);
  const ids = ['gen-1', 'gen-2', 'gen-3'];
  for (const id of ids) storage.ledger.append(generation(id), [attempt(`${id}-0`, id)]);
  const bytes = withoutOrigin(readFileSync(journalsOf(path)[0] ?? ''));
  await storage.close();
  return { bytes, ids };
}

test('entries of a killed process are read once, at the next start', async () => {
  const { bytes, ids } = await threeRecords();
  const path = leftBehind(bytes);
  const storage = await openLazily(path);
  expect(journalsOf(path)).toEqual([]);
  expect(await countOf(storage, ids)).toBe(3);
  await storage.close();
  // A second time, as after a death between the database's commit and the deletion of the journal.
  writeFileSync(join(dirname(path), 'journal', 'left.journal'), bytes);
  const again = await openLazily(path);
  expect((await again.ledger.find('gen-2', 'key_a'))?.attempts).toEqual([attempt('gen-2-0', 'gen-2')]);
  await again.close();
});

test('if the last entry is truncated or damaged, the earlier ones are read, and a notice is logged', async () => {
  const { bytes, ids } = await threeRecords();
  const [entry] = [(bytes.length - 4) / 3];
  const cuts = [1, 5, 9, 60, entry - 1].map((length) => bytes.subarray(0, 2 * entry + length));
  const flipped = Buffer.from(bytes);
  flipped[2 * entry + 40] = 255 - (flipped[2 * entry + 40] ?? 0);
  for (const damaged of [...cuts, flipped]) {
    const path = leftBehind(damaged);
    const notices: string[] = [];
    const storage = await openLazily(path, (sentence) => void notices.push(sentence));
    expect(await countOf(storage, ids)).toBe(2);
    expect(notices.filter((sentence) => sentence.includes('ends with an incomplete entry'))).toHaveLength(1);
    expect(readFileSync(join(dirname(path), 'journal', 'left.journal.damaged'))).toEqual(damaged);
    await storage.close();
  }
});

test('old entries after the current end are not read', async () => {
  const path = freshPath();
  const storage = await openLazily(path);
  for (const id of ['gen-1', 'gen-2', 'gen-3']) storage.ledger.append(generation(id), []);
  await storage.ledger.find('gen-1', 'key_a');
  storage.ledger.append(generation('gen-4'), []);
  const { entries, isWhole } = readEntries(readFileSync(journalsOf(path)[0] ?? ''));
  expect(isWhole).toBe(true);
  expect(entries.map(({ kind }) => kind)).toEqual([ORIGIN_ENTRY, 1]);
  await storage.close();
});

test('an unreadable entry does not block the others', async () => {
  const { bytes, ids } = await threeRecords();
  const strange = Buffer.alloc(64);
  const end = writeEntry(strange, 0, 1, Buffer.from([255, 255, 255]));
  const path = leftBehind(Buffer.concat([strange.subarray(0, end), bytes]));
  const notices: string[] = [];
  const storage = await openLazily(path, (sentence) => void notices.push(sentence));
  expect(await countOf(storage, ids)).toBe(3);
  expect(notices.filter((sentence) => sentence.includes('is skipped'))).toHaveLength(1);
  await storage.close();
});

test('two processes on one directory see the entries that the other has taken, and do not touch its journal', async () => {
  const path = freshPath();
  const one = await openLazily(path);
  const two = await openLazily(path);
  one.ledger.append(generation('gen-1'), []);
  two.ledger.append(generation('gen-2'), []);
  expect(await countOf(two, ['gen-1', 'gen-2'])).toBe(2);
  expect(await countOf(one, ['gen-1', 'gen-2'])).toBe(2);
  const three = await openLazily(path);
  expect(await countOf(three, ['gen-1', 'gen-2'])).toBe(2);
  await three.close();
  expect(journalsOf(path)).toHaveLength(2);
  one.ledger.append(generation('gen-3'), []);
  expect(await countOf(two, ['gen-3'])).toBe(1);
  await one.close();
  await two.close();
  expect(readdirSync(join(dirname(path), 'journal'))).toEqual([]);
});

test('only its owner can read it, and a command that writes nothing creates none', async () => {
  const path = freshPath();
  const storage = await openLazily(path);
  expect(await storage.ledger.find('gen-1', 'key_a')).toBeNull();
  expect(readdirSync(dirname(path))).not.toContain('journal');
  storage.ledger.append(generation('gen-1'), []);
  expect(statSync(join(dirname(path), 'journal')).mode & 0o077).toBe(0);
  for (const file of journalsOf(path)) expect(statSync(file).mode & 0o077).toBe(0);
  await storage.close();
});

test.skipIf(process.platform === 'win32')(
  'a full disk refuses what does not fit, and keeps all that was taken',
  async () => {
    const path = freshPath();
    // In blocks of 512 bytes: room for the tables, and for some hundred entries, but not for a whole piece of the journal.
    const script = `trap '' XFSZ; ulimit -f 1000; exec "$0" "$@"`;
    const program = join(import.meta.dir, '..', '..', 'crash', 'processes', 'append-to-full-disk.ts');
    const child = Bun.spawn(['sh', '-c', script, process.execPath, program, path], {
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const lines = (await new Response(child.stdout).text()).trimEnd().split('\n');
    const ids = lines.filter((line) => line.startsWith('gen-'));
    expect(lines.at(-2)).toBe('The journal could not be written.');
    expect(ids.length).toBeGreaterThan(20);
    const storage = await openLazily(path);
    expect(await countOf(storage, ids)).toBe(ids.length);
    expect(await storage.ledger.find(`gen-${ids.length - 1}`, 'key_a')).toBeNull();
    await storage.close();
  },
);

/** A target that counts what it is given, or fails when told to. */
class MemoryTarget implements JournalTarget {
  appended = 0;
  isFull = false;

  append(): void {
    this.reserve();
    this.appended += 1;
  }
  reserve(): void {
    if (this.isFull) throw new Error('ENOSPC');
  }
  read(): Buffer {
    throw new Error('nothing was kept');
  }
  clear(): void {}
  seal(): void {}
  remove(): void {}
}

function textsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ content }) => Buffer.from(content).toString());
}

test('entries are given in their order, large ones too, and forgotten when they are dropped', () => {
  const target = new MemoryTarget();
  const journal = new Journal({ next: () => target, maxBytes: () => 10_000_000 });
  const texts = Array.from({ length: 300 }, (_, n) => `${n}`.padEnd(n === 7 ? 200_000 : 1_000, '.'));
  for (const text of texts) journal.append(1, Buffer.from(text));
  expect(target.appended).toBe(300);
  const read: string[] = [];
  while (journal.waiting > 0) {
    const entries = journal.oldest(10);
    expect(entries.length).toBeGreaterThan(0);
    read.push(...textsOf(entries));
    // Entries that come meanwhile wait behind the rest.
    if (read.length < 50) journal.append(1, Buffer.from(`late ${read.length}`));
    journal.drop(entries);
  }
  expect(read.slice(0, 300)).toEqual(texts);
  expect(read.slice(300).every((text) => text.startsWith('late'))).toBe(true);
});

test('an entry that was not written is not there, and what waits is bounded', () => {
  const target = new MemoryTarget();
  const journal = new Journal({ next: () => target, maxBytes: () => 3_000 });
  journal.append(1, Buffer.from('kept'));
  target.isFull = true;
  expect(() => journal.append(1, Buffer.from('lost'))).toThrow('could not be written');
  expect(journal.isFull).toBe(true);
  journal.look();
  expect(journal.isFull).toBe(true);
  target.isFull = false;
  journal.look();
  expect(journal.isFull).toBe(false);
  journal.append(1, Buffer.from('after'));
  expect(() => journal.append(1, Buffer.alloc(3_000))).toThrow('The journal is full');
  expect(textsOf(journal.oldest(9))).toEqual(['kept', 'after']);
});

test('if callers also wait for the database, entries that do not fit on the disk are kept in memory, in order', () => {
  const target = new MemoryTarget();
  const journal = new Journal({ next: () => target, maxBytes: () => 100_000_000, keepsUnwritten: true });
  journal.append(1, Buffer.from('written'));
  target.isFull = true;
  journal.append(1, Buffer.from('kept'));
  expect(journal.isFull).toBe(true);
  expect(textsOf(journal.oldest(9))).toEqual(['written', 'kept']);
  // Memory is not for ever.
  const large = Buffer.alloc(200_000);
  expect(() => {
    for (let n = 0; n < 100; n += 1) journal.append(1, large);
  }).toThrow('could not be written');
  expect(journal.waiting).toBeLessThan(10_000_000);
});

test('a journal that is never empty does not grow, and of a long one most is in its files alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-journal-'));
  const journals = new JournalFolder(folder);
  const files = journals.own();
  const journal = new Journal({ next: () => files.next(), maxBytes: () => 1e9 });
  const names = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.journal'));
  const text = (n: number): string => `${n}`.padEnd(16_000, '.');
  let [written, read] = [0, 0];
  const write = (): void => journal.append(1, Buffer.from(text(written++)));
  const take = (): void => {
    const entries = journal.oldest(7);
    for (const each of textsOf(entries)) expect(each).toBe(text(read++));
    journal.drop(entries);
  };
  for (let n = 0; n < 400; n += 1) {
    write();
    if (written - read > 20) take();
  }
  expect(names().length).toBeLessThanOrEqual(2);
  const before = process.memoryUsage().arrayBuffers;
  while (names().length < 40) write();
  // Entries that were written are nobody's any more.
  Bun.gc(true);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(12_000_000);
  while (read < written) take();
  files.close();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('the files of a killed process are read in the order in which it wrote them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-journal-'));
  const files = new JournalFolder(folder).own();
  const journal = new Journal({ next: () => files.next(), maxBytes: () => 1e9 });
  const texts = Array.from({ length: 300 }, (_, n) => `${n}`.padEnd(8_000, '.'));
  for (const text of texts) journal.append(1, Buffer.from(text));
  const others = new JournalFolder(folder);
  const found: string[] = [];
  const apply = async (entries: readonly Entry[]): Promise<void> => void found.push(...textsOf(entries));
  const notices: string[] = [];
  await others.recover(apply, (sentence) => void notices.push(sentence), 0);
  expect(found).toEqual([]);
  // As when the process dies: the lock is given back, the files stay.
  files.close();
  await others.recover(apply, (sentence) => void notices.push(sentence), 0);
  expect(found).toEqual(texts);
  expect(notices).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('new entries of the journal of another process are applied, also after its file was rewritten', async () => {
  const folder = join(dirname(freshPath()), 'journal');
  const files = new JournalFolder(folder).own();
  const journal = new Journal({ next: () => files.next(), maxBytes: () => 1e6 });
  const append = (text: string): void => journal.append(7, Buffer.from(text));
  const reader = new JournalFolder(folder);
  const applied = async (): Promise<string[]> => {
    const texts: string[] = [];
    await reader.applyOthers(async (entries) => {
      texts.push(...entries.map(({ content }) => Buffer.from(content).toString()));
    });
    return texts;
  };
  append('a');
  append('b');
  expect(await applied()).toEqual(['a', 'b']);
  expect(await applied()).toEqual([]);
  append('c');
  expect(await applied()).toEqual(['c']);
  journal.drop(journal.oldest(10));
  append('d');
  expect(await applied()).toEqual(['d']);
  append('e');
  append('f');
  append('g');
  expect(await applied()).toEqual(['e', 'f', 'g']);
  journal.drop(journal.oldest(10));
  append('D');
  append('e');
  append('f');
  append('g');
  append('h');
  expect(await applied()).toEqual(['D', 'e', 'f', 'g', 'h']);
  files.close();
});
