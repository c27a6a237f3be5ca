// Resumable uploads. Their pieces are in the blob store, and count against the project's quota. An ended upload names its
// file until it expires.
import type { StoredUpload, UploadStore } from '../../../accounts/ports/index.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import { fileAdder } from './files.ts';
import { inserter } from '../insert.ts';
import { countedRows } from './counted-rows.ts';
import { rowBytes } from '../sizes.ts';
import { type RowIn, table } from '../table.ts';

const UPLOADS = table({
  name: 'uploads',
  columns: {
    row: 'row',
    id: 'id',
    /** Project of the upload. */
    key_id: 'id',
    expires_at: 'number',
    /** Metadata of the file, as JSON. */
    facts: 'text',
    /** Names of the pieces in order, as JSON. */
    pieces: 'text',
    /** Total bytes of the pieces. */
    bytes: 'number',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { uploads_by_expiry: ['expires_at', 'row'] },
  since: 6,
});

type UploadRow = RowIn<typeof UPLOADS>;
type Facts = Omit<StoredUpload, 'id' | 'projectId' | 'expiresAt' | 'pieces' | 'bytes'>;
/** Facts that uploads of earlier versions lack. */
const LATER_FACTS = { name: null, fileId: null };

export const uploads: Store<UploadStore> = { tables: [UPLOADS], open: openUploads };

function openUploads(database: StateDatabase): UploadStore {
  const { on, dialect, transact, readFirst, usage } = database;
  const db = on(UPLOADS);
  const insert = inserter(database, UPLOADS);
  const addFile = fileAdder(database);
  const { remove, takeExpired } = countedRows<UploadRow>(database, UPLOADS, countedBytes);
  const byId = (id: string) => db.selectFrom('uploads').selectAll().where('id', '=', id);
  /** The row of an upload that goes on, if it has so many bytes. */
  function* heldAt(id: string, bytes: number): Queries<UploadRow | undefined> {
    const row = yield* firstOf(dialect.held(byId(id).where('bytes', '=', bytes)));
    return row && decode(row).fileId === null ? row : undefined;
  }

  return {
    begin: (upload) =>
      transact(function* () {
        const row = encode(upload);
        yield* insert([row]);
        yield* usage.claim(upload.projectId, 0, countedBytes(row));
      }),
    async find(id, nowMs) {
      const row = await readFirst(byId(id).where('expires_at', '>', nowMs));
      return row ? decode(row) : null;
    },
    add: (id, before, piece) =>
      transact(function* () {
        const row = yield* heldAt(id, before);
        if (!row) return false;
        const pieces = JSON.stringify([...(JSON.parse(row.pieces) as readonly string[]), piece.name]);
        const grown = { pieces, bytes: row.bytes + piece.bytes };
        yield db.updateTable('uploads').set(grown).where('row', '=', row.row);
        yield* usage.claim(row.key_id, 0, countedBytes({ ...row, ...grown }) - countedBytes(row));
        return true;
      }),
    finish: (id, before, file) =>
      transact(function* () {
        const row = yield* heldAt(id, before);
        if (!row) return false;
        const ended = encode({ ...decode(row), pieces: [], bytes: 0, fileId: file.id });
        yield db.updateTable('uploads').set(ended).where('row', '=', row.row);
        yield* usage.release(row.key_id, 0, countedBytes(row) - countedBytes(ended));
        yield* addFile(file);
        return true;
      }),
    cancel: (id) =>
      transact(function* () {
        const rows = yield* rowsOf(dialect.held(byId(id)));
        yield* remove(rows);
        return rows.flatMap(piecesOf);
      }),
    async takeExpired(nowMs) {
      const taken = await takeExpired(nowMs);
      return { uploads: taken.length, pieces: taken.flatMap(piecesOf) };
    },
  };
}

/** Bytes of an upload that count against the quota. */
function countedBytes({ facts, pieces, bytes }: Pick<UploadRow, 'facts' | 'pieces' | 'bytes'>): number {
  return rowBytes(facts) + Buffer.byteLength(pieces) + bytes;
}

function piecesOf({ pieces }: UploadRow): readonly string[] {
  return JSON.parse(pieces) as readonly string[];
}

function encode({ id, projectId, expiresAt, pieces, bytes, ...facts }: StoredUpload) {
  return {
    id,
    key_id: projectId,
    expires_at: expiresAt,
    facts: JSON.stringify(facts satisfies Facts),
    pieces: JSON.stringify(pieces),
    bytes,
  };
}

function decode(row: UploadRow): StoredUpload {
  return {
    ...LATER_FACTS,
    ...(JSON.parse(row.facts) as Facts),
    id: row.id,
    projectId: row.key_id,
    expiresAt: row.expires_at,
    pieces: piecesOf(row),
    bytes: row.bytes,
  };
}
