// Sent alerts, and claims that make sure only one process sends each.
import type { JsonObject } from '../../../base/json/index.ts';
import type { AlertStore } from '../../../accounts/ports/index.ts';
import type { Store } from '../database.ts';
import { newestFirst } from '../pages.ts';
import { table } from '../table.ts';

/** Milliseconds after which an alert is deleted. It would be sent again if its problem still existed. */
const KEPT_MS = 400 * 86_400_000;

const ALERTS = table({
  name: 'alerts',
  columns: {
    /** Name of the problem. */
    id: 'text',
    /** Unix milliseconds. The name stays: `docs/decisions/007-structure.md`. */
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

/** Event of each alert, and when it was resolved. */
const ALERT_EVENTS = table({
  name: 'alert_events',
  columns: {
    alert_id: 'id',
    event: 'text',
    raised_at: 'number',
    /** Unix milliseconds; null: open. */
    resolved_at: 'number?',
  },
  key: ['alert_id'],
  indexes: { alert_events_by_time: ['raised_at'] },
  since: 5,
  extras: {
    sqlite: [openIndex()],
    postgres: [openIndex()],
  },
});

/** Partial index, because only a few of many alerts are open. */
function openIndex(): string {
  return 'create index alert_events_open on alert_events (event) where resolved_at is null';
}

/** Maximum number of open alerts that are read. */
const MOST_OPEN = 1_000;

export const alerts: Store<AlertStore> = {
  tables: [ALERTS, ALERT_HISTORY, ALERT_EVENTS],
  open({ on, transact, ask, read, write }) {
    const db = on(ALERTS, ALERT_HISTORY, ALERT_EVENTS);
    return {
      claim: (id, nowMs, quietMs) =>
        transact(function* () {
          yield db.deleteFrom('alerts').where('told_at', '<', nowMs - KEPT_MS);
          // One statement, so that of two concurrent claims the second waits for the first and finds its row.
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
      keep: ({ id, raisedAt, type, message, data }, event) =>
        transact(function* () {
          yield db.deleteFrom('alert_events').where('raised_at', '<', raisedAt - KEPT_MS);
          yield db
            .insertInto('alert_events')
            .values({ alert_id: id, event, raised_at: raisedAt, resolved_at: null });
          yield db.deleteFrom('alert_history').where('raised_at', '<', raisedAt - KEPT_MS);
          yield db
            .insertInto('alert_history')
            .values({ id, raised_at: raisedAt, type, message, data: JSON.stringify(data) });
        }),
      async open() {
        const found = db
          .selectFrom('alert_events as e')
          .innerJoin('alert_history as h', 'h.id', 'e.alert_id')
          .select(['e.event', 'h.id', 'h.raised_at', 'h.type', 'h.data'])
          .where('e.resolved_at', 'is', null)
          .orderBy('h.row', 'desc')
          .limit(MOST_OPEN);
        const rows = await read(found);
        return rows.map(({ raised_at: raisedAt, data, ...row }) => ({
          ...row,
          raisedAt,
          data: JSON.parse(data) as JsonObject,
        }));
      },
      async resolve(event, nowMs) {
        const ended = await write(
          db
            .updateTable('alert_events')
            .set({ resolved_at: nowMs })
            .where('event', '=', event)
            .where('resolved_at', 'is', null)
            .returning('alert_id'),
        );
        return ended.length > 0;
      },
      async list({ type, isOpen, ...place }) {
        let query = db
          .selectFrom('alert_history as h')
          .leftJoin('alert_events as e', 'e.alert_id', 'h.id')
          .select(['h.row', 'h.id', 'h.raised_at', 'h.type', 'h.message', 'h.data'])
          .select(['e.event', 'e.resolved_at']);
        if (type !== undefined) query = query.where('h.type', '=', type);
        if (isOpen === true)
          query = query.where('e.event', 'is not', null).where('e.resolved_at', 'is', null);
        if (isOpen === false)
          query = query.where(({ eb, or }) =>
            or([eb('e.event', 'is', null), eb('e.resolved_at', 'is not', null)]),
          );
        const { rows, hasMore } = await newestFirst({ ask }, ['alert_history', 'alert'], query, place);
        const alerts = rows.map(({ id, raised_at: raisedAt, message, data, event, ...row }) => ({
          id,
          raisedAt,
          type: row.type,
          message,
          data: JSON.parse(data) as JsonObject,
          // Alerts from earlier versions have no event.
          isOpen: event !== null && row.resolved_at === null,
          resolvedAt: row.resolved_at,
        }));
        return { alerts, hasMore };
      },
    };
  },
};
