// Facts about files, through their port, in every database.
import { expect, test } from 'bun:test';
import type { StoredFile } from '../../../src/accounts/ports/index.ts';
import { rejection } from '../../support/rejection.ts';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('a file is found by its project until it expires, is listed in pages, and frees its storage', async () => {
    const open = await fresh();
    await using storage = await open({ maxBytesPerKey: () => 10_000 });
    const { files, stateUsage } = storage;
    const file = (n: number, over: Partial<StoredFile> = {}): StoredFile => ({
      id: `file_${n}`,
      projectId: 'key_a',
      createdAt: n,
      expiresAt: 100,
      purpose: n % 2 === 0 ? 'vision' : 'user_data',
      filename: `größe ${n}.txt`,
      mediaType: 'text/plain',
      name: null,
      sha256: null,
      bytes: 1_000,
      ...over,
    });
    for (let n = 1; n <= 4; n++) await files.put(file(n));
    await files.put(file(5, { expiresAt: null }));
    expect(await files.find('key_a', 'file_1', 99)).toEqual(file(1));
    expect(await files.find('key_a', 'file_5', 9e12)).toEqual(file(5, { expiresAt: null }));
    expect(await files.find('key_a', 'file_1', 100)).toBeNull();
    expect(await files.find('key_b', 'file_1', 0)).toBeNull();
    const ids = async (page: object, nowMs = 0): Promise<unknown[]> => {
      const found = await files.list('key_a', { limit: 2, order: 'asc', ...page }, nowMs);
      return [...found.files.map(({ id }) => id), found.hasMore];
    };
    expect(await ids({})).toEqual(['file_1', 'file_2', true]);
    expect(await ids({ after: 'file_3' })).toEqual(['file_4', 'file_5', false]);
    expect(await ids({ order: 'desc', purpose: 'vision' })).toEqual(['file_4', 'file_2', false]);
    expect(await ids({}, 100)).toEqual(['file_5', false]);
    expect(await rejection(ids({ after: 'file_9' }))).toMatchObject({ param: 'after' });
    const large = file(6, { bytes: 9_000 });
    expect(await rejection(files.put(large))).toMatchObject({ kind: 'quota' });
    expect(await files.exists('file_6')).toBe(false);
    expect(await files.delete('key_b', 'file_1')).toBe(false);
    expect(await files.delete('key_a', 'file_1')).toBe(true);
    expect(await files.delete('key_a', 'file_1')).toBe(false);
    const taken: string[] = [];
    // As many at a time as a moment allows.
    for (let some = await files.takeExpired(100); some.length > 0; some = await files.takeExpired(100))
      taken.push(...some);
    expect(taken.toSorted()).toEqual(['file_2', 'file_3', 'file_4']);
    expect(await files.exists('file_5')).toBe(true);
    await files.delete('key_a', 'file_5');
    expect(await stateUsage.bytes('key_a')).toBe(0);
  });

  test('a name is unique among the unexpired files of a project', async () => {
    const open = await fresh();
    await using storage = await open();
    const { files } = storage;
    const file = (id: string, over: Partial<StoredFile> = {}): StoredFile => ({
      id,
      projectId: 'project_a',
      createdAt: 1,
      expiresAt: 100,
      purpose: 'user_data',
      filename: 'notes.txt',
      mediaType: 'text/plain',
      bytes: 10,
      name: 'notes',
      sha256: 'ab'.repeat(32),
      ...over,
    });
    await files.put(file('file_1'));
    expect(await files.find('project_a', 'notes', 0)).toEqual(file('file_1'));
    expect(await files.find('project_b', 'notes', 0)).toBeNull();
    expect(await rejection(files.put(file('file_2', { createdAt: 99 })))).toMatchObject({ kind: 'conflict' });
    await files.put(file('file_3', { projectId: 'project_b' }));
    await files.put(file('file_4', { createdAt: 100, expiresAt: 200 }));
    expect((await files.find('project_a', 'notes', 100))?.id).toBe('file_4');
    const both = await Promise.allSettled(
      ['file_5', 'file_6'].map((id) => files.put(file(id, { name: 'other' }))),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
