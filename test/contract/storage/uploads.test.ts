// Facts about uploads that come in several requests, through their port, in every database.
import { expect, test } from 'bun:test';
import type { StoredFile, StoredUpload } from '../../../src/accounts/ports/index.ts';
import { rejection } from '../../support/rejection.ts';
import { describeDatabases } from './databases.ts';

const upload = (over: Partial<StoredUpload> = {}): StoredUpload => ({
  id: 'secret_a',
  projectId: 'project_a',
  keyId: 'key_a',
  expiresAt: 100,
  purpose: 'user_data',
  filename: 'größe.txt',
  mediaType: null,
  size: 5_000,
  pieces: [],
  bytes: 0,
  name: null,
  fileId: null,
  ...over,
});
const file = (over: Partial<StoredFile> = {}): StoredFile => ({
  id: 'file_1',
  projectId: 'project_a',
  createdAt: 1,
  expiresAt: 200,
  purpose: 'user_data',
  filename: 'größe.txt',
  mediaType: 'text/plain',
  name: null,
  sha256: null,
  bytes: 5_000,
  ...over,
});

describeDatabases((fresh) => {
  test('an upload accepts pieces at its current offset, counts for its project, and becomes a file once', async () => {
    const open = await fresh();
    await using storage = await open({ maxBytesPerKey: () => 10_000 });
    const { uploads, files, stateUsage } = storage;
    await uploads.begin(upload());
    expect(await uploads.find('secret_a', 99)).toEqual(upload());
    expect(await uploads.find('secret_a', 100)).toBeNull();
    expect(await uploads.find('secret_b', 0)).toBeNull();
    const before = await stateUsage.bytes('project_a');
    const piece = (name: string) => ({ name, bytes: 2_000 });
    const both = await Promise.all([
      uploads.add('secret_a', 0, piece('one')),
      uploads.add('secret_a', 0, piece('other')),
    ]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await uploads.add('secret_a', 2_000, piece('two'))).toBe(true);
    expect(await uploads.add('secret_b', 0, piece('none'))).toBe(false);
    expect(await uploads.find('secret_a', 0)).toMatchObject({
      pieces: [expect.any(String), 'two'],
      bytes: 4_000,
    });
    expect((await stateUsage.bytes('project_a')) - before).toBeGreaterThanOrEqual(4_000);
    expect(await rejection(uploads.add('secret_a', 4_000, { name: 'large', bytes: 9_000 }))).toMatchObject({
      kind: 'quota',
    });
    expect(await rejection(uploads.finish('secret_a', 4_000, file({ bytes: 10_000 })))).toMatchObject({
      kind: 'quota',
    });
    expect(await uploads.finish('secret_a', 2_000, file())).toBe(false);
    const ends = await Promise.all([
      uploads.finish('secret_a', 4_000, file()),
      uploads.finish('secret_a', 4_000, file({ id: 'file_2' })),
    ]);
    expect(ends.toSorted()).toEqual([false, true]);
    const { files: kept } = await files.list('project_a', { limit: 10, order: 'asc' }, 0);
    expect(kept).toHaveLength(1);
    const fileId = kept[0]?.id ?? '';
    // It names its file, and does not go on.
    expect(await uploads.find('secret_a', 0)).toEqual(upload({ fileId }));
    expect(await uploads.add('secret_a', 0, piece('late'))).toBe(false);
    expect(await uploads.finish('secret_a', 0, file({ id: 'file_3' }))).toBe(false);
    await files.delete('project_a', fileId);
    expect(await uploads.takeExpired(100)).toEqual({ uploads: 1, pieces: [] });
    expect(await stateUsage.bytes('project_a')).toBe(0);
  });

  test('an upload that is cancelled or expires gives its place back, and the names of its pieces', async () => {
    const open = await fresh();
    await using storage = await open({ maxBytesPerKey: () => 10_000 });
    const { uploads, stateUsage } = storage;
    for (const id of ['secret_a', 'secret_b', 'secret_c']) {
      await uploads.begin(upload({ id, expiresAt: id === 'secret_c' ? 300 : 100 }));
      await uploads.add(id, 0, { name: `piece_of_${id}`, bytes: 1_000 });
    }
    expect(await uploads.cancel('secret_a')).toEqual(['piece_of_secret_a']);
    expect(await uploads.cancel('secret_a')).toEqual([]);
    expect(await uploads.takeExpired(99)).toEqual({ uploads: 0, pieces: [] });
    expect(await uploads.takeExpired(100)).toEqual({ uploads: 1, pieces: ['piece_of_secret_b'] });
    expect(await uploads.find('secret_c', 0)).not.toBeNull();
    await uploads.cancel('secret_c');
    expect(await stateUsage.bytes('project_a')).toBe(0);
  });
});
