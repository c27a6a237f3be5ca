// What was found out about endpoints: one row for each place, the same for every process. Each change leaves another text in
// the settings, in the transaction of the change, so that whoever asks for that alone misses none.
import { type Kysely, sql } from 'kysely';
import { parseJson } from '../../canonical/index.ts';
import type { FindingStore, StoredFinding } from '../ports.ts';
import type { PostgresBase, PostgresStore, Tx } from './store.ts';

const MARK = 'doctor_findings';

/** Only this store knows the table. */
interface Tables {
  doctor_findings: {
    provider: string;
    protocol: string;
    model: string;
    /** JSON object. */
    entry: string;
  };
}

class PostgresFindings implements FindingStore {
  readonly #base: PostgresBase;

  constructor(base: PostgresBase) {
    this.#base = base;
  }

  async all(): Promise<readonly unknown[]> {
    const rows = await tablesOf(this.#base.db)
      .selectFrom('doctor_findings')
      .select('entry')
      .orderBy('provider')
      .orderBy('model')
      .orderBy('protocol')
      .execute();
    return rows.map(({ entry }) => parseJson(entry));
  }

  async put(findings: readonly StoredFinding[]): Promise<void> {
    if (findings.length === 0) return;
    await this.#base.transaction(async (tx) => {
      await note(tx);
      for (const { entry, ...place } of findings) {
        const row = { ...place, entry: JSON.stringify(entry) };
        await tablesOf(tx)
          .insertInto('doctor_findings')
          .values(row)
          .onConflict((conflict) =>
            conflict.columns(['provider', 'protocol', 'model']).doUpdateSet({ entry: row.entry }),
          )
          .execute();
      }
    });
  }

  forget(provider: string | undefined): Promise<number> {
    return this.#base.transaction(async (tx) => {
      await note(tx);
      const gone = await tablesOf(tx)
        .deleteFrom('doctor_findings')
        .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
        .executeTakeFirst();
      return Number(gone.numDeletedRows);
    });
  }

  async mark(): Promise<string> {
    const row = await this.#base.db
      .selectFrom('settings')
      .select('value')
      .where('name', '=', MARK)
      .executeTakeFirst();
    return row?.value ?? '';
  }
}

/** Whoever changes something holds this row until it commits: changes follow one another. */
async function note(tx: Tx): Promise<void> {
  await tx
    .insertInto('settings')
    .values({ name: MARK, value: '1' })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: sql`(settings.value::bigint + 1)::text` }),
    )
    .execute();
}

function tablesOf(db: PostgresBase['db']): Kysely<Tables> {
  return db as unknown as Kysely<Tables>;
}

export const postgresFindings: PostgresStore<FindingStore> = {
  migrations: [
    {
      name: 'what was found out about endpoints',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('doctor_findings')
          .addColumn('provider', 'text', (column) => column.notNull())
          .addColumn('protocol', 'text', (column) => column.notNull())
          .addColumn('model', 'text', (column) => column.notNull())
          .addColumn('entry', 'text', (column) => column.notNull())
          .addPrimaryKeyConstraint('doctor_findings_by_place', ['provider', 'protocol', 'model'])
          .execute(),
    },
  ],
  open: (base) => new PostgresFindings(base),
};
