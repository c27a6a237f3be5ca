// The bytes of files: from the folder of the data directory into the database. Those in a bucket stay where they are.
import { join } from 'node:path';
import { BlobFolder } from '../blob-folder.ts';
import type { BlobStore } from '../../accounts/ports/index.ts';
import type { Part } from './part.ts';
import type { Source } from './source.ts';

/** The part that moves them, one file at a time. @param missing told of files whose bytes are not there */
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

/** False where there are none. */
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
