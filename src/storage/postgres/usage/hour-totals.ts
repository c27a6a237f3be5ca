// Makes the totals of hours that are over, and says how reports read them; see `storage/usage/hour-totals.ts`. Rows of an hour
// are read some at a time, and nothing is locked meanwhile: a note that a change of them takes away says whether they are still
// what was read. Whoever changes them holds a lock of the hour that all may hold at once (see `usage-tables.ts`); whoever
// begins or ends totals wants it alone for a moment, and comes back later where it is held: what had not been committed yet when it
// began would be missing, and its change would not have met the note.
import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { noUsageSums, USAGE_COUNTS, type UsageCounts } from '../../../usage/index.ts';
import { othersRun } from '../../others-run.ts';
import type { HourSpan } from '../../usage/hours.ts';
import {
  DRAFT,
  HourTotals,
  OF_ALL,
  totalledBefore,
  type TotalsBy,
  type TotalsRow,
} from '../../usage/hour-totals.ts';
import type { RecordNames } from '../records/counted-record.ts';
import type { PostgresBase, PostgresSchema, Tx } from '../store.ts';
import { bytesOf, detailsOf } from './usage-rows.ts';
import { HOUR_LOCKS, USAGE_NAMES } from './usage-tables.ts';

/** Rows of an hour that are read with one query, and those of them that are added up in one go. */
const ROWS = 500;
const ROWS_AT_ONCE = 100;

type HourRow = UsageCounts & RecordNames & { readonly writer: number; readonly details: Buffer };

const KEYS = sql.join([...USAGE_NAMES, 'writer'].map((name) => sql.ref(name)));
const COUNTS = sql.join(USAGE_COUNTS.map((name) => sql.ref(name)));

export class PostgresHourTotals {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  /** Where the search for an hour without totals goes on. */
  #from = 0;

  constructor({ db, transaction }: Pick<PostgresBase, 'db' | 'transaction'>) {
    this.#db = db;
    this.#transaction = transaction;
  }

  /**
   * Makes the totals of one hour that is over.
   * @returns false when nothing was left to do
   */
  async step(nowMs: number): Promise<boolean> {
    const hour = await this.#without({ from: this.#from, to: totalledBefore(nowMs) });
    // Hours that changed since are found by the next search.
    this.#from = hour === null ? 0 : hour + 1;
    if (hour === null) return false;
    const draft = { dimension: DRAFT, name: randomUUID(), sums: noUsageSums() };
    const hasBegun = await this.#transaction(async (tx) => {
      const isAlone = await isLocked(tx, hour);
      if (isAlone) await insert(tx, hour, [draft]);
      return isAlone;
    });
    if (!hasBegun) return true;
    const totals = await this.#totalsOf(hour);
    await this.#transaction(async (tx) => {
      if (!(await isLocked(tx, hour))) return;
      const drafts = await sql`
        select from usage_hour_totals
        where period = ${hour} and dimension = ${sql.lit(DRAFT)} and name = ${draft.name}`.execute(tx);
      // Some of it has changed, or another process was faster.
      if (drafts.rows.length === 0) return;
      await sql`delete from usage_hour_totals where period = ${hour}`.execute(tx);
      await insert(tx, hour, totals.rows());
    });
    return true;
  }

  /** The first hour of a span that has rows and no totals. */
  async #without({ from, to }: HourSpan): Promise<number | null> {
    const { rows } = await sql<{ period: number }>`
      select period from generate_series(
        greatest(${from}::integer, (select min(period) from usage_hourly)), ${to}::integer - 1) period
      where exists (select from usage_hourly u where u.period = period.period)
        and not exists (
          select from usage_hour_totals t where t.period = period.period and dimension = ${sql.lit(OF_ALL)})
      order by period limit 1`.execute(this.#db);
    return rows[0]?.period ?? null;
  }

  async #totalsOf(hour: number): Promise<HourTotals<string>> {
    const totals = new HourTotals('');
    let behind: RawBuilder<unknown> = sql``;
    for (;;) {
      const { rows } = await sql<HourRow>`
        select ${KEYS}, ${COUNTS}, details from usage_hourly
        where period = ${hour} ${behind} order by ${KEYS} limit ${ROWS}`.execute(this.#db);
      for (const [at, row] of rows.entries()) {
        totals.add({ counts: row, details: detailsOf(row.details) }, (dimension) => row[dimension]);
        if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await othersRun();
      }
      const last = rows.at(-1);
      if (!last || rows.length < ROWS) return totals;
      const keys = [...USAGE_NAMES.map((name) => sql`${last[name]}`), sql`${last.writer}`];
      behind = sql`and (${KEYS}) > (${sql.join(keys)})`;
    }
  }
}

/** Whether nobody else has changed rows of an hour without having committed it, and nobody can until this transaction ends. */
async function isLocked(tx: Tx, hour: number): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(HOUR_LOCKS)}, ${hour}) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

async function insert(tx: Tx, hour: number, rows: readonly TotalsRow<string>[]): Promise<void> {
  const counts = sql.join(
    USAGE_COUNTS.map((name) => sql`${rows.map(({ sums }) => sums.counts[name])}::bigint[]`),
  );
  await sql`
    insert into usage_hour_totals (period, dimension, name, ${COUNTS}, details)
    select ${hour}::integer, * from unnest(
      ${rows.map(({ dimension }) => dimension)}::smallint[], ${rows.map(({ name }) => name)}::text[], ${counts},
      ${rows.map(({ sums }) => bytesOf(sums.details))}::bytea[])`.execute(tx);
}

/** Rows of a span, each with its hour: totals, and for hours without them the rows that sums are kept in. */
export function totalledRows({ from, to }: HourSpan, { dimension, by }: TotalsBy): RawBuilder<unknown> {
  const named = by === null ? sql`` : sql`${sql.ref(by)},`;
  const nameOfTotals = by === null ? sql`` : sql`name as ${sql.ref(by)},`;
  // Few among many rows: found one hour after the other by the index of both tables.
  const marked = sql`
    select period from usage_hour_totals
    where dimension = ${sql.lit(OF_ALL)} and period >= ${from} and period < ${to}`;
  return sql`
    select period as hour, ${nameOfTotals} ${COUNTS}, details from usage_hour_totals
    where dimension = ${sql.lit(dimension)} and period = any(array(${marked}))
    union all
    select period as hour, ${named} ${COUNTS}, details from usage_hourly
    where period = any(array(
      select generate_series(
        greatest(${from}::integer, (select min(period) from usage_hourly)),
        least(${to}::integer - 1, (select max(period) from usage_hourly)))
      except ${marked}))`;
}
