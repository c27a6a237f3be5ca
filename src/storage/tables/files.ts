// Uploaded files. Their bytes are in the blob store under their ids, and count against the project's quota here.
import { GatewayError } from '../../canonical/index.ts';
import type { FileStore, StoredFile } from '../../accounts/ports/index.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from './database.ts';
import { inserter } from './insert.ts';
import { pageByRow } from './pages.ts';
import { expiring } from './purge.ts';
import { NEVER, rowBytes } from './sizes.ts';
import { statement } from './statement.ts';
import { columnsOf, table } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

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
  },
  key: ['row'],
  unique: [['id']],
  indexes: { files_by_key: ['key_id', 'row'], files_by_expiry: ['expires_at', 'row'] },
});

type FileRow = Omit<NonNullable<(typeof FILES)['row']>, 'row'> & { readonly row: number };
const FILE_COLUMNS = columnsOf(FILES) as readonly (keyof FileRow)[];

export const files: Store<FileStore> = { tables: [FILES], open: openFiles };

function openFiles(database: StateDatabase): FileStore {
  const { on, dialect, transact, write, ask, sweep, usage } = database;
  const db = on(FILES);
  const add = fileAdder(database);
  const byId = statement((v: { projectId: string; id: string; nowMs: UnixMs }) =>
    db
      .selectFrom('files')
      .selectAll()
      .where('id', '=', v.id)
      .where('key_id', '=', v.projectId)
      .where('expires_at', '>', v.nowMs),
  );
  const expired = expiring<FileRow>(database, FILES, FILE_COLUMNS);
  function* remove(rows: readonly FileRow[]): Queries<void> {
    // Fixed order, to avoid deadlocks between processes.
    for (const row of rows.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1))) {
      yield db.deleteFrom('files').where('row', '=', row.row);
      yield* usage.release(row.key_id, 0, countedBytes(decode(row)));
    }
  }
  return {
    put: (file) => transact(() => add(file)),
    async find(projectId, id, nowMs) {
      const row = await ask(() => firstOf(byId({ projectId, id, nowMs })));
      return row ? decode(row) : null;
    },
    async exists(id) {
      const found = await ask(() => firstOf(db.selectFrom('files').select('row').where('id', '=', id)));
      return found !== undefined;
    },
    async list(projectId, { after, limit, order, purpose }, nowMs) {
      let query = db
        .selectFrom('files')
        .selectAll()
        .where('key_id', '=', projectId)
        .where('expires_at', '>', nowMs);
      if (purpose !== undefined && purpose !== '') query = query.where('purpose', '=', purpose);
      const page = await ask(function* () {
        const place = after === undefined ? undefined : yield* firstOf(byId({ projectId, id: after, nowMs }));
        if (after !== undefined && !place)
          throw new GatewayError('invalid_request', `after: no file '${after.slice(0, 100)}'`, {
            param: 'after',
          });
        return yield* pageByRow(query, { order, limit }, place?.row);
      });
      return { files: page.rows.map(decode), hasMore: page.hasMore };
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
        yield* remove(rows);
        return rows.length > 0;
      }),
    async takeExpired(nowMs) {
      let taken: string[] = [];
      await sweep(
        (limit) => {
          taken = [];
          return expired({ nowMs, limit });
        },
        function* (rows) {
          yield* remove(rows);
          taken.push(...rows.map(({ id }) => id));
        },
      );
      return taken;
    },
  };
}

/** Creates a function that inserts a file within a transaction, and throws GatewayError `quota`. */
export function fileAdder(database: StateDatabase): (file: StoredFile) => Queries<void> {
  const insert = inserter(database, FILES);
  return function* (file) {
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
  };
}
