// Webhook receivers created by API, and the health of all receivers. Secrets are encrypted.
import type { StoredWebhook, WebhookHealth, WebhookStore } from '../../../accounts/ports/index.ts';
import { firstOf, rowsOf, type Store } from '../database.ts';
import { type RowIn, table } from '../table.ts';

const WEBHOOKS = table({
  name: 'webhooks',
  columns: {
    row: 'row',
    id: 'id',
    project_id: 'id?',
    url: 'text',
    description: 'text?',
    /** JSON array of types. */
    events: 'text?',
    /** Encrypted. */
    secrets: 'bytes',
    /** Unix milliseconds. */
    created_at: 'number',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { webhooks_of_project: ['project_id', 'row'] },
  since: 3,
});

/** Receivers that are failing or disabled. */
const WEBHOOK_HEALTH = table({
  name: 'webhook_health',
  columns: {
    id: 'id',
    /** Unix milliseconds. */
    failing_since: 'number?',
    disabled_at: 'number?',
    reason: 'text?',
  },
  key: ['id'],
  clustered: true,
  since: 3,
});

export const webhooks: Store<WebhookStore> = {
  tables: [WEBHOOKS, WEBHOOK_HEALTH],
  open({ on, dialect, exclusively, transact, write, ask, read }) {
    const db = on(WEBHOOKS, WEBHOOK_HEALTH);
    const all = db.selectFrom('webhooks').selectAll();
    const isOf = (projectId: string | null) =>
      projectId === null ? all.where('project_id', 'is', null) : all.where('project_id', '=', projectId);
    const find = (id: string) => firstOf(all.where('id', '=', id));
    return {
      insert: ({ id, projectId, url, description, events, secrets, createdAt }, most) =>
        exclusively(function* () {
          const held = yield* rowsOf(isOf(projectId).limit(most));
          if (held.length >= most) return false;
          yield db.insertInto('webhooks').values({
            id,
            project_id: projectId,
            url,
            description,
            events: events && JSON.stringify(events),
            secrets,
            created_at: createdAt,
          });
          return true;
        }),
      async find(id) {
        const row = await ask(() => find(id));
        return row ? decode(row) : null;
      },
      async all() {
        return (await read(all.orderBy('row'))).map(decode);
      },
      async receiving(projectId) {
        const rows = await ask(function* () {
          const own = projectId === null ? [] : yield* rowsOf(isOf(projectId).orderBy('row'));
          return [...(yield* rowsOf(isOf(null).orderBy('row'))), ...own];
        });
        return rows.map(decode);
      },
      async update(id, { events, ...rest }) {
        const row = await transact(function* () {
          yield (
            db
              .updateTable('webhooks')
              // Undefined members stay unchanged.
              .set({ id, ...rest, ...(events !== undefined && { events: events && JSON.stringify(events) }) })
              .where('id', '=', id)
          );
          return yield* find(id);
        });
        return row ? decode(row) : null;
      },
      delete: (id) =>
        transact(function* () {
          yield db.deleteFrom('webhook_health').where('id', '=', id);
          const deleted = yield* firstOf(db.deleteFrom('webhooks').where('id', '=', id).returning('id'));
          return deleted !== undefined;
        }),
      async health(ids) {
        if (ids.length === 0) return new Map();
        const rows = await read(db.selectFrom('webhook_health').selectAll().where(dialect.among('id', ids)));
        return new Map(rows.map((row) => [row.id, healthOf(row)]));
      },
      async failed(id, nowMs) {
        const [row] = await write(
          db
            .insertInto('webhook_health')
            .values({ id, failing_since: nowMs, disabled_at: null, reason: null })
            .onConflict((conflict) =>
              conflict.column('id').doUpdateSet(({ fn, ref, val }) => ({
                failing_since: fn.coalesce(ref('webhook_health.failing_since'), val(nowMs)),
              })),
            )
            .returning('failing_since'),
        );
        return row?.failing_since ?? nowMs;
      },
      async recovered(id) {
        await write(db.deleteFrom('webhook_health').where('id', '=', id));
      },
      async disable(id, reason, nowMs) {
        const changed = await write(
          db
            .insertInto('webhook_health')
            .values({ id, failing_since: nowMs, disabled_at: nowMs, reason })
            .onConflict((conflict) =>
              conflict
                .column('id')
                .doUpdateSet({ disabled_at: nowMs, reason })
                .where('webhook_health.disabled_at', 'is', null),
            )
            .returning('id'),
        );
        return changed.length > 0;
      },
    };
  },
};

function decode(row: RowIn<typeof WEBHOOKS>): StoredWebhook {
  return {
    id: row.id,
    projectId: row.project_id,
    url: row.url,
    description: row.description,
    events: row.events === null ? null : (JSON.parse(row.events) as readonly string[]),
    secrets: new Uint8Array(row.secrets),
    createdAt: row.created_at,
  };
}

function healthOf({
  failing_since: failingSince,
  disabled_at: at,
  reason,
}: RowIn<typeof WEBHOOK_HEALTH>): WebhookHealth {
  return { failingSince, disabled: at === null ? null : { at, reason: reason ?? '' } };
}
