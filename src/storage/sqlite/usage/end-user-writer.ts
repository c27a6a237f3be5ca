// Adds to the sums of end users. Requests invent end users as they like: an hour has room for so many rows
// of a project, and what finds none is counted together, so that the sums are whole.
import { inputTokensIn, outputTokensIn, type UsageCounts } from '../../../usage/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { SqliteBase } from '../store.ts';
import type { EndUserSums } from './counted-sums.ts';

/** Rows of an hour for the end users of a project, besides those for all others: about half a megabyte. */
export const MOST_ROWS = 10_000;

/** The end user of a row for all that had no room. */
export const OTHER_END_USERS = new Uint8Array();

/** What the rows count, as the usual sums have it. */
export const END_USER_COUNTS = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  charged_errors: (counts) => counts.charged_errors,
  tool_turns: (counts) => counts.tool_turns,
  input_tokens: inputTokensIn,
  output_tokens: outputTokensIn,
  nano_usd: (counts) => counts.nano_usd,
  unpriced: ({ unpriced }) => unpriced,
} as const satisfies Record<string, (counts: UsageCounts) => number>;

export class EndUserWriter {
  /** Binds the counts, then the keys; changes nothing where there is no such row. */
  readonly #update: SqlStatement;
  /** Binds the keys, then the counts. */
  readonly #insert: SqlStatement;
  /** Binds hour and project. */
  readonly #rows: SqlStatement;
  /** Binds hour, project and how many rows there are from now on. */
  readonly #setRows: SqlStatement;

  constructor({ connection, db }: Pick<SqliteBase, 'connection' | 'db'>) {
    const counts = Object.keys(END_USER_COUNTS) as (keyof typeof END_USER_COUNTS)[];
    const zeros = Object.fromEntries(counts.map((name) => [name, 0])) as Record<
      (typeof counts)[number],
      number
    >;
    const update = db
      .updateTable('usage_end_users')
      .set((eb) => Object.fromEntries(counts.map((name) => [name, eb(eb.ref(name), '+', eb.val(0))])))
      .where('period', '=', 0)
      .where('project', '=', 0)
      .where('end_user', '=', new Uint8Array())
      .where('key', '=', 0)
      .where('model', '=', 0);
    const insert = db
      .insertInto('usage_end_users')
      .values({ period: 0, project: 0, end_user: new Uint8Array(), key: 0, model: 0, ...zeros });
    const rows = db
      .selectFrom('usage_end_user_rows')
      .select('rows')
      .where('period', '=', 0)
      .where('project', '=', 0);
    const setRows = db
      .insertInto('usage_end_user_rows')
      .values({ period: 0, project: 0, rows: 0 })
      .onConflict((conflict) =>
        conflict.columns(['period', 'project']).doUpdateSet((eb) => ({ rows: eb.ref('excluded.rows') })),
      );
    this.#update = connection.prepare(update.compile().sql);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#rows = connection.prepare(rows.compile().sql);
    this.#setRows = connection.prepare(setRows.compile().sql);
  }

  /** Inside a transaction. */
  add(rows: readonly EndUserSums[]): void {
    // How many rows there are is read and written once for all of an hour and a project.
    const hours = new Map<string, HourRows>();
    for (const row of rows) {
      const { period, project } = row;
      const name = `${period} ${project}`;
      let hour = hours.get(name);
      if (!hour) {
        const known = Number(this.#rows.all(period, project)[0]?.['rows'] ?? 0);
        hours.set(name, (hour = { period, project, known, now: known }));
      }
      this.#add(row, hour);
    }
    for (const { period, project, known, now } of hours.values())
      if (now > known) this.#setRows.run(period, project, now);
  }

  #add({ period, project, key, model, counts, endUser }: EndUserSums, hour: HourRows): void {
    const own = [period, project, Buffer.from(endUser, 'hex'), key, model];
    const numbers = END_USER_NUMBERS.map((of) => of(counts));
    if (this.#update.run(...numbers, ...own).changes > 0) return;
    if (hour.now < MOST_ROWS) {
      this.#insert.run(...own, ...numbers);
      hour.now += 1;
      return;
    }
    const others = [period, project, OTHER_END_USERS, key, model];
    if (this.#update.run(...numbers, ...others).changes > 0) return;
    this.#insert.run(...others, ...numbers);
  }
}

/** Rows of an hour for the end users of a project. */
interface HourRows {
  readonly period: number;
  readonly project: number;
  /** In the database before. */
  readonly known: number;
  now: number;
}

const END_USER_NUMBERS = Object.values(END_USER_COUNTS);
