// Alerts that were published, and when, by whichever process was first; and what they said. Knows nothing of their meaning.
import type { JsonObject } from '../../base/json/index.ts';
import type { AlertStore } from '../../accounts/ports/index.ts';
import type { Store } from './database.ts';
import { newestFirst } from './pages.ts';
import { table } from './table.ts';

/** Milliseconds after which an alert is forgotten, and would be published again if it were still the case. */
const KEPT_MS = 400 * 86_400_000;

const ALERTS = table({
  name: 'alerts',
  columns: {
    /** Names the event. */
    id: 'text',
    /** Unix milliseconds. */
    told_at: 'number',
  },
  key: ['id'],
});

const ALERT_HISTORY = table({
  name: 'alert_history',
  columns: {
    row: 'row',
    id: 'id',
    /** Unix milliseconds. */
    raised_at: 'number',
    type: 'id',
    message: 'text',
    /** A JSON object. */
    data: 'text',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { alert_history_by_time: ['raised_at'] },
});

export const alerts: Store<AlertStore> = {
  tables: [ALERTS, ALERT_HISTORY],
  open({ on, transact, ask }) {
    const db = on(ALERTS, ALERT_HISTORY);
    return {
      claim: (id, nowMs, quietMs) =>
        transact(function* () {
          yield db.deleteFrom('alerts').where('told_at', '<', nowMs - KEPT_MS);
          // One statement: of two processes that claim at once, the second waits for the first and finds its row.
          const rows = yield db
            .insertInto('alerts')
            .values({ id, told_at: nowMs })
            .onConflict((conflict) =>
              conflict
                .column('id')
                .doUpdateSet({ told_at: nowMs })
                .where('alerts.told_at', '<=', Math.max(nowMs - quietMs, -1)),
            )
            .returning('id');
          return rows.length > 0;
        }),
      keep: ({ id, raisedAt, type, message, data }) =>
        transact(function* () {
          yield db.deleteFrom('alert_history').where('raised_at', '<', raisedAt - KEPT_MS);
          yield db
            .insertInto('alert_history')
            .values({ id, raised_at: raisedAt, type, message, data: JSON.stringify(data) });
        }),
      async list({ type, ...place }) {
        let query = db.selectFrom('alert_history').selectAll();
        if (type !== undefined) query = query.where('type', '=', type);
        const { rows, hasMore } = await newestFirst({ ask }, ['alert_history', 'alert'], query, place);
        const alerts = rows.map(({ id, raised_at: raisedAt, message, data, ...row }) => ({
          id,
          raisedAt,
          type: row.type,
          message,
          data: JSON.parse(data) as JsonObject,
        }));
        return { alerts, hasMore };
      },
    };
  },
};
