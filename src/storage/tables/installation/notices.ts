// Pub/sub between processes by LISTEN and NOTIFY (PostgreSQL 16, "NOTIFY", 2026-11: payloads are shorter than 8,000 bytes).
// A table lists the subscribers, so that processes listen only if needed: each connection costs the server a process.
import { sql } from 'kysely';
import type { NoticeStore } from '../../../accounts/ports/index.ts';
import type { SharedDatabase, Store } from '../database.ts';
import { presence } from './replicas.ts';
import { table } from '../table.ts';

const NOTICES_WANTED = table({
  name: 'notices_wanted',
  columns: {
    /** Name of a process. */
    id: 'id',
    /** Unix milliseconds by the server's clock. */
    until_at: 'number',
  },
  key: ['id'],
  only: 'postgres',
  isLocal: true,
});

/** Name of the channel. Each schema is a separate installation, and schema names may be too long, hence the hash. */
const CHANNEL = sql<string>`'dragoman_' || md5(current_schema())`;

export const notices: Store<NoticeStore, SharedDatabase> = { tables: [NOTICES_WANTED], open: openNotices };

function openNotices(database: SharedDatabase): NoticeStore {
  const { write, readFirst, listen } = database;
  const { renew, others } = presence(database, NOTICES_WANTED);
  return {
    want: renew,
    async isWanted(self) {
      return (await others(self)).length > 0;
    },
    async publish(text) {
      await write(sql`select pg_notify(${CHANNEL}, ${text})`);
    },
    async subscribe(received) {
      const row = await readFirst(sql<{ channel: string }>`select ${CHANNEL} as channel`);
      return listen(row?.channel ?? '', received);
    },
  };
}
