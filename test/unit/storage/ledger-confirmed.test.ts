// The last byte of an answer waits, where its record is to be in the database first: for the transaction that brings it
// in, but not for a database that is slow or gone.
import { expect, test } from 'bun:test';
import type { Entry } from '../../../src/storage/journal/entries.ts';
import { type EntryTarget, Indexer } from '../../../src/storage/journal/indexer.ts';
import { Journal } from '../../../src/storage/journal/journal.ts';

/** A database that takes entries when it is told to. */
class HeldTarget implements EntryTarget {
  readonly most = 10;
  readonly mostAtLeisure = 10;
  readonly taken: string[] = [];
  #held = Promise.withResolvers<void>();
  isGone = false;

  async bringIn(choose: () => readonly Entry[]): Promise<void> {
    if (this.isGone) throw new Error('gone');
    const entries = choose();
    await this.#held.promise;
    this.taken.push(...entries.map(({ content }) => Buffer.from(content).toString()));
  }

  letGo(): void {
    this.#held.resolve();
  }
}

function openHeld(confirmMs: number | null) {
  const target = new HeldTarget();
  const notices: string[] = [];
  const planned: { readonly task: () => void; readonly delayMs: number }[] = [];
  const journal = new Journal({ next: null, maxBytes: () => 1_000 });
  const indexer = new Indexer({
    journal,
    folder: null,
    target,
    later: (task, delayMs) => void planned.push({ task, delayMs }),
    confirmMs,
    notice: (sentence) => void notices.push(sentence),
  });
  return { target, notices, planned, indexer };
}

test('a response waits until its record is in the database, with all records of the same turn', async () => {
  const { target, indexer } = openHeld(60_000);
  expect(indexer.confirmed()).toBeUndefined();
  indexer.append(1, Buffer.from('a'));
  const first = indexer.confirmed();
  indexer.append(1, Buffer.from('b'));
  expect(indexer.confirmed()).toBe(first);
  let isConfirmed = false;
  void first?.then(() => (isConfirmed = true));
  for (let turn = 0; turn < 3; turn += 1) await new Promise<void>(setImmediate);
  expect(isConfirmed).toBe(false);
  target.letGo();
  await first;
  expect(target.taken).toEqual(['a', 'b']);
});

test('no request waits if the journal suffices', () => {
  const { indexer } = openHeld(null);
  indexer.append(1, Buffer.from('a'));
  expect(indexer.confirmed()).toBeUndefined();
});

test('requests wait once for a slow database, and again after it has accepted something', async () => {
  const { target, notices, indexer } = openHeld(1);
  indexer.append(1, Buffer.from('a'));
  await indexer.confirmed();
  expect(target.taken).toEqual([]);
  expect(indexer.isStuck).toBe(true);
  indexer.append(1, Buffer.from('b'));
  expect(indexer.confirmed()).toBeUndefined();
  target.letGo();
  await indexer.caughtUp();
  expect(target.taken).toEqual(['a', 'b']);
  expect(indexer.isStuck).toBe(false);
  expect(notices.map((notice) => notice.split(';')[0])).toEqual([
    'records cannot be written to the database',
    'records are written to the database again',
  ]);
});

test('an unreachable database delays no request, and gets the queued records in order and once', async () => {
  const { target, planned, indexer } = openHeld(60_000);
  target.isGone = true;
  indexer.append(1, Buffer.from('a'));
  await indexer.confirmed();
  indexer.append(1, Buffer.from('b'));
  expect(indexer.confirmed()).toBeUndefined();
  target.isGone = false;
  target.letGo();
  for (const { task } of planned.splice(0)) task();
  await indexer.caughtUp();
  expect(target.taken).toEqual(['a', 'b']);
});

test('a nearly full journal is reported once, and once when it has free space again', async () => {
  const { target, notices, indexer } = openHeld(null);
  for (let n = 0; n < 9; n += 1) indexer.append(1, Buffer.alloc(95));
  expect(indexer.isFull()).toBe(false);
  indexer.append(1, Buffer.alloc(20));
  indexer.append(1, Buffer.alloc(4));
  expect([indexer.isFull(), indexer.isFull()]).toEqual([true, true]);
  target.letGo();
  await indexer.caughtUp();
  expect([indexer.isFull(), indexer.isFull()]).toEqual([false, false]);
  expect(notices).toEqual(['the journal or the disk is full', 'the journal has free space again']);
});

test('entries are written in small transactions with pauses, in which requests run', async () => {
  const { target, planned, indexer } = openHeld(null);
  target.letGo();
  const entries = Array.from({ length: 25 }, (_, at) => String(at));
  for (const entry of entries) indexer.append(1, Buffer.from(entry));
  const sizes: number[] = [];
  for (const { task } of planned) {
    task();
    await new Promise<void>(setImmediate);
    sizes.push(target.taken.length);
  }
  expect(sizes).toEqual([10, 20, 25]);
  expect(target.taken).toEqual(entries);
  expect(planned.map(({ delayMs }) => delayMs)).toEqual([2_000, 20, 20]);
});

test('under load, entries are left to larger transactions', async () => {
  const { target, planned, indexer } = openHeld(null);
  target.letGo();
  const append = (count: number): void => {
    for (let at = 0; at < count; at++) indexer.append(1, Buffer.from('x'));
  };
  append(12);
  for (let round = 0; round < 3; round++) {
    planned[round]?.task();
    await new Promise<void>(setImmediate);
    append(11);
  }
  expect(planned.map(({ delayMs }) => delayMs)).toEqual([2_000, 20, 2_000, 20]);
});
