// Blobs in PostgreSQL. A file is stored in pieces, one per row, so that it is never in memory as a whole. It gets its name
// only when it is complete.
import type { BlobDraft, BlobStore } from '../../../accounts/ports/index.ts';
import { type Database, type Queries, rowsOf, type Store } from '../database.ts';
import { table } from '../table.ts';

/** Bytes of a piece, which is read or written in 1–2 ms. */
const PIECE = 256 * 1024;
/** Names that a sweep checks per query. */
const NAMES = 500;

const BLOBS = table({
  name: 'blobs',
  columns: {
    row: 'row',
    /** Null while the blob is being written. */
    name: 'id?',
    pieces: 'small',
    /** Unix milliseconds, by the clock of the database. */
    written_at: 'number',
  },
  key: ['row'],
  unique: [['name']],
  only: 'postgres',
  // Blobs are moved and backed up as files.
  isLocal: true,
});

const BLOB_PIECES = table({
  name: 'blob_pieces',
  columns: { blob: 'number', number: 'small', bytes: 'bytes' },
  key: ['blob', 'number'],
  only: 'postgres',
  isLocal: true,
  // Images and documents are already compressed.
  extras: { postgres: ['alter table blob_pieces alter column bytes set storage external'] },
});

export const blobs: Store<BlobStore> = { tables: [BLOBS, BLOB_PIECES], open: openBlobs };

function openBlobs({ on, dialect, clock, transact, write, read, readFirst }: Database): BlobStore {
  const db = on(BLOBS, BLOB_PIECES);
  const now = clock();
  function* removeRow(row: number): Queries<void> {
    yield db.deleteFrom('blob_pieces').where('blob', '=', row);
    yield db.deleteFrom('blobs').where('row', '=', row);
  }
  function* remove(name: string): Queries<void> {
    const found = yield* rowsOf(dialect.held(db.selectFrom('blobs').select('row').where('name', '=', name)));
    for (const { row } of found) yield* removeRow(row);
  }
  const find = (name: string): Promise<{ readonly row: number; readonly pieces: number } | undefined> =>
    readFirst(db.selectFrom('blobs').select(['row', 'pieces']).where('name', '=', name));
  /** Reads a piece. @throws Error if the blob was deleted in the meantime */
  const piece = async (row: number, number: number): Promise<Uint8Array> => {
    const found = await readFirst(
      db.selectFrom('blob_pieces').select('bytes').where('blob', '=', row).where('number', '=', number),
    );
    if (!found) throw new Error('the file was deleted while it was read');
    return found.bytes;
  };
  return {
    async draft(): Promise<BlobDraft> {
      const [made] = await write(
        db.insertInto('blobs').values({ name: null, pieces: 0, written_at: now }).returning('row'),
      );
      const row = made?.row ?? 0;
      let waiting: Uint8Array[] = [];
      let size = 0;
      let pieces = 0;
      const writePieces = async (): Promise<void> => {
        const bytes = Buffer.concat(waiting);
        waiting = [];
        size = 0;
        for (let from = 0; from < bytes.length; from += PIECE) {
          const some = bytes.subarray(from, from + PIECE);
          await write(db.insertInto('blob_pieces').values({ blob: row, number: pieces, bytes: some }));
          pieces += 1;
        }
      };
      return {
        async write(bytes) {
          // Copied, because the caller may reuse the memory.
          waiting.push(Uint8Array.from(bytes));
          size += bytes.length;
          if (size >= PIECE) await writePieces();
        },
        async keep(name) {
          await writePieces();
          await transact(function* () {
            yield* remove(name);
            yield db.updateTable('blobs').set({ name, pieces, written_at: now }).where('row', '=', row);
          });
        },
        discard: () => transact(() => removeRow(row)),
      };
    },
    async read(name) {
      const blob = await find(name);
      if (!blob) return null;
      const pieces: Uint8Array[] = [];
      for (let number = 0; number < blob.pieces; number += 1) pieces.push(await piece(blob.row, number));
      return Buffer.concat(pieces);
    },
    async stream(name) {
      const blob = await find(name);
      if (!blob) return null;
      let number = 0;
      return new ReadableStream({
        pull: async (controller) => {
          if (number === blob.pieces) return controller.close();
          controller.enqueue(await piece(blob.row, number));
          number += 1;
        },
      });
    },
    delete: (name) => transact(() => remove(name)),
    async sweep(beforeMs, isKept) {
      for (let after = 0; ;) {
        const from = after;
        const some = await read(
          db
            .selectFrom('blobs')
            .select(['row', 'name'])
            .where('row', '>', from)
            .where('written_at', '<', beforeMs)
            .orderBy('row')
            .limit(NAMES),
        );
        for (const { row, name } of some)
          if (name === null || !(await isKept(name))) await transact(() => removeRow(row));
        const last = some.at(-1);
        if (!last) return;
        after = last.row;
      }
    },
  };
}
