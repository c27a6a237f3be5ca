// Moves the bytes of files from the data directory to the database. Files in a bucket stay there.
import { join } from 'node:path';
import { BlobFolder } from '../blob-folder.ts';
import type { BlobStore } from '../../accounts/ports/index.ts';
import type { Part } from './part.ts';
import type { Source } from './source.ts';

/** Moves one file per piece. @param missing called with the ids of files whose bytes do not exist */
export function filePart(
  source: Source,
  dataDir: string,
  to: BlobStore,
  missing: (id: string) => void,
): Part {
  const from = new BlobFolder(join(dataDir, 'files'));
  return {
    name: 'bytes of files',
    total: () => Number(source.rows('select count(*) as files from files')[0]?.['files']),
    next(after) {
      const [file] = source.rows(
        'select "row", id from files where "row" > ? order by "row" limit 1',
        after?.[0] ?? 0,
      );
      if (!file) return null;
      const id = String(file['id']);
      return {
        rows: 1,
        cursor: [Number(file['row'])],
        prepare: async () => {
          if (!(await copy(id, from, to))) missing(id);
        },
        *write() {},
      };
    },
  };
}

/** Copies a blob. @returns false if it does not exist */
async function copy(id: string, from: BlobStore, to: BlobStore): Promise<boolean> {
  const bytes = await from.stream(id);
  if (!bytes) return false;
  const draft = await to.draft();
  try {
    for await (const some of bytes) await draft.write(some);
    await draft.keep(id);
  } catch (error) {
    await draft.discard();
    throw error;
  }
  return true;
}
