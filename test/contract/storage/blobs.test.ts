// Bytes by name, in every store that can have them: a folder, a bucket, a database.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBucket } from '../../../src/base/runtime/s3.ts';
import { BlobFolder } from '../../../src/storage/blobs/blob-folder.ts';
import type { BlobStore } from '../../../src/accounts/ports/index.ts';
import { blobs } from '../../../src/storage/tables/files/blobs.ts';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { S3Blobs } from '../../../src/storage/blobs/s3-blobs.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { startS3 } from '../../support/upstreams/s3-server.ts';

interface Opened {
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

async function folder(): Promise<Opened> {
  const path = mkdtempSync(join(tmpdir(), 'dragoman-blobs-'));
  const close = async (): Promise<void> => rmSync(path, { recursive: true, force: true });
  return { blobs: new BlobFolder(path), close };
}

async function bucket(): Promise<Opened> {
  const spare = await folder();
  const s3 = startS3();
  const target = { endpoint: s3.origin, bucket: 'box', region: 'eu-test-1', accessKeyId: 'id-test' };
  return {
    blobs: new S3Blobs({
      bucket: openBucket({ ...target, secretAccessKey: s3.secret }),
      prefix: 'files/',
      folder: spare.blobs as BlobFolder,
    }),
    async close() {
      await s3[Symbol.asyncDispose]();
      await spare.close();
    },
  };
}

async function postgres(): Promise<Opened> {
  return openWith({ blobs }, { url: await freshPostgres(), ...PATIENT });
}

describe.each([
  ['a folder', folder, false],
  ['a bucket', bucket, false],
  ['PostgreSQL', postgres, POSTGRES_PROGRAMS === null],
] as const)('bytes in %s', (_name, open, isAbsent) => {
  let opened: Opened;
  let blobs: BlobStore;
  beforeAll(async () => {
    if (isAbsent) return;
    opened = await open();
    blobs = opened.blobs;
  });
  afterAll(() => opened?.close());

  async function keep(name: string, ...pieces: readonly Uint8Array[]): Promise<void> {
    const draft = await blobs.draft();
    for (const piece of pieces) await draft.write(piece);
    await draft.keep(name);
  }
  const streamed = async (name: string): Promise<Buffer> =>
    Buffer.from(await new Response(await blobs.stream(name)).arrayBuffer());

  test.skipIf(isAbsent)('are complete once they are stored, and gone once they are deleted', async () => {
    const large = Buffer.alloc(1_000_001, 'some words');
    const scratch = Buffer.from(large.subarray(0, 300_000));
    const draft = await blobs.draft();
    await draft.write(scratch);
    // The writer may use the place of the bytes again.
    scratch.fill(0);
    await draft.write(large.subarray(300_000));
    expect(await blobs.read('file_1')).toBeNull();
    await draft.keep('file_1');
    expect(Buffer.from((await blobs.read('file_1')) ?? []).equals(large)).toBe(true);
    expect((await streamed('file_1')).equals(large)).toBe(true);
    await keep('file_2', Buffer.from('a'), Buffer.from('b'));
    expect((await streamed('file_2')).toString()).toBe('ab');
    await keep('file_3');
    expect((await streamed('file_3')).length).toBe(0);
    await blobs.delete('file_1');
    await blobs.delete('file_1');
    expect(await blobs.read('file_1')).toBeNull();
    expect(await blobs.stream('file_1')).toBeNull();
    expect((await streamed('file_2')).toString()).toBe('ab');
  });

  test.skipIf(isAbsent)('leave nothing behind when they are discarded', async () => {
    const draft = await blobs.draft();
    await draft.write(Buffer.alloc(600_000));
    await draft.discard();
    expect(await blobs.read('file_4')).toBeNull();
  });

  test.skipIf(isAbsent)('that are not read to the end keep nothing open', async () => {
    await keep('file_5', Buffer.alloc(900_000, 'x'));
    const reader = (await blobs.stream('file_5'))?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    await reader?.cancel();
    expect((await streamed('file_5')).length).toBe(900_000);
  });

  test.skipIf(isAbsent)('of a crashed process are deleted, and those of other processes stay', async () => {
    await keep('file_6', Buffer.from('kept'));
    const left = await blobs.draft();
    await left.write(Buffer.alloc(600_000));
    await blobs.sweep(0, async () => false);
    expect((await streamed('file_6')).toString()).toBe('kept');
    await blobs.sweep(Date.now() + 60_000, async (name) => name === 'file_6');
    expect((await streamed('file_6')).toString()).toBe('kept');
    await left.discard();
  });
});
