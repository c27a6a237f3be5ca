// Encrypted turns by project and tool call. Read by every request of a conversation with tools.
import type { SealedTurn, VaultStore } from '../../../accounts/ports/index.ts';
import type { Store } from '../database.ts';
import { inserter } from '../insert.ts';
import { purger } from '../purge.ts';
import { statement } from '../statement.ts';
import { table } from '../table.ts';
import type { UnixMs } from '../../../base/units.ts';

const VAULT = table({
  name: 'vault',
  columns: {
    key_id: 'id',
    call_id: 'id',
    sealed: 'bytes',
    expires_at: 'number',
  },
  key: ['key_id', 'call_id'],
  indexes: { vault_by_expiry: ['expires_at'] },
});

export const vault: Store<VaultStore> = {
  tables: [VAULT],
  open(database) {
    const { on, dialect, separately, read } = database;
    const db = on(VAULT);
    const insert = inserter(database, VAULT, {
      conflict: { on: VAULT.key, update: ['sealed', 'expires_at'] },
    });
    const find = statement((v: { projectId: string; callIds: readonly string[]; nowMs: UnixMs }) =>
      db
        .selectFrom('vault')
        .select(['call_id', 'sealed'])
        .where('key_id', '=', v.projectId)
        .where(dialect.among('call_id', v.callIds))
        .where('expires_at', '>', v.nowMs),
    );
    const findAll = statement((v: { projectId: string; nowMs: number; limit: number }) =>
      db
        .selectFrom('vault')
        .select(['call_id', 'sealed'])
        .where('key_id', '=', v.projectId)
        .where('expires_at', '>', v.nowMs)
        .orderBy('expires_at', 'desc')
        .orderBy('call_id')
        .limit(v.limit),
    );
    const purge = purger(database, VAULT, 'expires_at');
    return {
      async put(turns) {
        await separately(() => insert(rowsToPut(turns)));
      },
      async get(projectId, callIds, nowMs) {
        if (callIds.length === 0) return new Map();
        const rows = await read(find({ projectId, callIds, nowMs }));
        return new Map(rows.map((row) => [row.call_id, ownBytes(row.sealed)]));
      },
      async list(projectId, nowMs, limit) {
        const rows = await read(findAll({ projectId, nowMs, limit }));
        return new Map(rows.map((row) => [row.call_id, ownBytes(row.sealed)]));
      },
      purge: (nowMs) => purge(nowMs + 1),
    };
  },
};

/** Copies bytes, because buffers of the PostgreSQL driver are views of its socket reads. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes instanceof Buffer ? new Uint8Array(bytes) : bytes;
}

/** The last turn per key, because a statement may write a row only once. In fixed order, to avoid deadlocks. */
function rowsToPut(turns: readonly SealedTurn[]) {
  const last = new Map(turns.map((turn) => [JSON.stringify([turn.projectId, turn.callId]), turn]));
  return [...last]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { projectId, callId, sealed, expiresAt }]) => ({
      key_id: projectId,
      call_id: callId,
      sealed,
      expires_at: expiresAt,
    }));
}
