// Uploaded files. Their bytes are in the blob store under their ids, and count against the project's quota here.
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import type { FileStore, StoredFile } from '../../../accounts/ports/index.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import { inserter } from '../insert.ts';
import { pageAfter } from '../pages.ts';
import { BATCHES } from '../jobs/batch-tables.ts';
import { countedRows } from './counted-rows.ts';
import { NEVER, rowBytes } from '../sizes.ts';
import { statement } from '../statement.ts';
import { type RowIn, table } from '../table.ts';
import type { UnixMs } from '../../../base/units.ts';

export const FILES = table({
  name: 'files',
  columns: {
    row: 'row',
    id: 'id',
    key_id: 'id',
    created_at: 'number',
    expires_at: 'number',
    purpose: 'text',
    filename: 'text',
    media_type: 'text',
    /** Size of the file. */
    bytes: 'number',
    name: 'id?',
    sha256: 'id?',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { files_by_key: ['key_id', 'row'], files_by_expiry: ['expires_at', 'row'] },
  added: { name: 8, sha256: 8 },
});

type FileRow = RowIn<typeof FILES>;

const BY_NAME = 'create unique index files_by_name on files (key_id, name)';

export const files: Store<FileStore> = {
  tables: [FILES],
  changes: [{ version: 8, up: { sqlite: [BY_NAME], postgres: [BY_NAME] } }],
  open: openFiles,
};

function openFiles(database: StateDatabase): FileStore {
  const { on, dialect, transact, write, ask, readFirst } = database;
  const db = on(FILES, BATCHES);
  const add = fileAdder(database);
  const byId = statement((v: { projectId: string; id: string; nowMs: UnixMs }) =>
    db
      .selectFrom('files')
      .selectAll()
      .where((eb) => eb.or([eb('id', '=', v.id), eb('name', '=', v.id)]))
      .where('key_id', '=', v.projectId)
      .where('expires_at', '>', v.nowMs),
  );
  const { remove, takeExpired } = countedRows<FileRow>(database, FILES, (row) => countedBytes(decode(row)));
  return {
    put: (file) => transact(() => add(file)),
    async find(projectId, id, nowMs) {
      const row = await readFirst(byId({ projectId, id, nowMs }));
      return row ? decode(row) : null;
    },
    async exists(id) {
      const found = await readFirst(db.selectFrom('files').select('row').where('id', '=', id));
      return found !== undefined;
    },
    async list(projectId, { purpose, ...page }, nowMs) {
      let query = db
        .selectFrom('files')
        .selectAll()
        .where('key_id', '=', projectId)
        .where('expires_at', '>', nowMs);
      if (purpose !== undefined && purpose !== '') query = query.where('purpose', '=', purpose);
      const find = (id: string) => firstOf(byId({ projectId, id, nowMs }));
      const { rows, hasMore } = await ask(() => pageAfter(query, page, 'file', find));
      return { files: rows.map(decode), hasMore };
    },
    async keepUntil(projectId, id, untilMs) {
      const kept = db.updateTable('files').set({ expires_at: untilMs }).where('id', '=', id);
      await write(kept.where('key_id', '=', projectId).where('expires_at', '<', untilMs));
    },
    delete: (projectId, id) =>
      transact(function* () {
        const rows = yield* rowsOf(
          dialect.held(
            db.selectFrom('files').selectAll().where('id', '=', id).where('key_id', '=', projectId),
          ),
        );
        // The row is locked, so no batch can begin to read it.
        const reader = db.selectFrom('batches').select('id').where('input_file', '=', id);
        if (rows.length > 0 && (yield* firstOf(reader.where('outcome', 'is', null).limit(1))))
          throw new GatewayError('conflict', TEXTS.fileInUse(id));
        yield* remove(rows);
        return rows.length > 0;
      }),
    async takeExpired(nowMs) {
      return (await takeExpired(nowMs)).map(({ id }) => id);
    },
  };
}

/** Creates a function that inserts a file within a transaction, and throws GatewayError `quota` or `conflict`. */
export function fileAdder(database: StateDatabase): (file: StoredFile) => Queries<void> {
  const insert = inserter(database, FILES);
  const db = database.on(FILES);
  return function* (file) {
    if (file.name !== null) {
      const named = db
        .updateTable('files')
        .where('key_id', '=', file.projectId)
        .where('name', '=', file.name);
      yield named.set({ name: null }).where('expires_at', '<=', file.createdAt);
      const taken = db.selectFrom('files').select('id').where('key_id', '=', file.projectId);
      if (yield* firstOf(taken.where('name', '=', file.name)))
        throw new GatewayError('conflict', TEXTS.fileExists(file.name));
    }
    yield* insert([encode(file)]);
    yield* database.usage.claim(file.projectId, 0, countedBytes(file));
  };
}

/** Bytes of a file that count against the quota. */
function countedBytes({ filename, bytes }: StoredFile): number {
  return rowBytes(filename) + bytes;
}

function encode(file: StoredFile) {
  return {
    id: file.id,
    key_id: file.projectId,
    created_at: file.createdAt,
    expires_at: file.expiresAt ?? NEVER,
    purpose: file.purpose,
    filename: file.filename,
    media_type: file.mediaType,
    bytes: file.bytes,
    name: file.name,
    sha256: file.sha256,
  };
}

function decode(row: FileRow): StoredFile {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    purpose: row.purpose,
    filename: row.filename,
    mediaType: row.media_type,
    bytes: row.bytes,
    name: row.name,
    sha256: row.sha256,
  };
}
