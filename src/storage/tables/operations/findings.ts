// Probe results of endpoints in PostgreSQL, shared by all processes. Each change also updates a version in the settings, in
// the same transaction, so that readers can poll the version.
import { sql } from 'kysely';
import { parseJson } from '../../../base/json/index.ts';
import type { FindingStore } from '../../../accounts/ports/index.ts';
import { type Queries, rowsOf, type Store } from '../database.ts';
import { inserter } from '../insert.ts';
import { SETTINGS } from '../installation/settings.ts';
import { table } from '../table.ts';

const MARK = 'doctor_findings';

const FINDINGS = table({
  name: 'doctor_findings',
  columns: {
    provider: 'text',
    protocol: 'text',
    model: 'text',
    /** JSON object. */
    entry: 'text',
  },
  key: ['provider', 'protocol', 'model'],
  only: 'postgres',
});

export const findings: Store<FindingStore> = {
  tables: [FINDINGS],
  open(database) {
    const { on, transact, read, readFirst } = database;
    const db = on(FINDINGS, SETTINGS);
    const insert = inserter(database, FINDINGS, { conflict: { on: FINDINGS.key, update: ['entry'] } });
    /** Locks the version until the change commits, so that changes are sequential. */
    function* note(): Queries<void> {
      yield db
        .insertInto('settings')
        .values({ name: MARK, value: '1' })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ value: sql`(settings.value::bigint + 1)::text` }),
        );
    }
    return {
      async all() {
        const rows = await read(
          db
            .selectFrom('doctor_findings')
            .select('entry')
            .orderBy('provider')
            .orderBy('model')
            .orderBy('protocol'),
        );
        return rows.map(({ entry }) => parseJson(entry));
      },
      async put(stored) {
        if (stored.length === 0) return;
        // The last result per endpoint and question is kept.
        const rows = new Map(
          stored.map(({ entry, ...place }) => [
            JSON.stringify(place),
            { ...place, entry: JSON.stringify(entry) },
          ]),
        );
        await transact(function* () {
          yield* note();
          yield* insert([...rows.values()]);
        });
      },
      forget: (provider) =>
        transact(function* () {
          yield* note();
          let query = db.deleteFrom('doctor_findings').returning('model');
          if (provider !== undefined) query = query.where('provider', '=', provider);
          return (yield* rowsOf(query)).length;
        }),
      async mark() {
        const row = await readFirst(db.selectFrom('settings').select('value').where('name', '=', MARK));
        return row?.value ?? '';
      },
    };
  },
};
