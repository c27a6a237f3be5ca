// Moves the bytes of files and of pieces of uploads from the data directory to the database. Those in a bucket stay there.
import { join } from 'node:path';
import { sql } from 'kysely';
import { BlobFolder } from '../blobs/blob-folder.ts';
import type { BlobStore } from '../../accounts/ports/index.ts';
import type { Part } from './move.ts';
import type { Source } from './source.ts';
import type { Target } from './target.ts';

/**
 * Moves blobs in the order of their names, so that the last name in the target tells where a move continues.
 * @param missing called with the names of blobs whose bytes do not exist
 */
export function bytesOfFiles(
  source: Source,
  dataDir: string,
  { database, blobs }: Target,
  missing: (name: string) => void,
): Part {
  const from = new BlobFolder(join(dataDir, 'files'));
  const names = source
    .rows(
      'select id as name from files union select p.value from uploads, json_each(uploads.pieces) as p order by name',
    )
    .map(({ name }) => String(name));
  return {
    name: 'bytes of files',
    rows: names.length,
    async move(moved) {
      const last = await database.readFirst(
        sql<{ name: string | null }>`select max(name) as name from blobs`,
      );
      const before = names.findLastIndex((name) => name <= (last?.name ?? '')) + 1;
      for (const [at, name] of names.slice(before).entries()) {
        if (await copy(name, from, blobs)) moved(before + at + 1);
        else missing(name);
      }
    },
  };
}

/** Copies a blob. @returns false if it does not exist */
async function copy(name: string, from: BlobStore, to: BlobStore): Promise<boolean> {
  const bytes = await from.stream(name);
  if (!bytes) return false;
  const draft = await to.draft();
  try {
    for await (const some of bytes) await draft.write(some);
    await draft.keep(name);
  } catch (error) {
    await draft.discard();
    throw error;
  }
  return true;
}
