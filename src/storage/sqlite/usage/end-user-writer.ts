// Adds records to the sums of their end users. Requests invent end users as they like: an hour has room for so many rows
// of a project, and what finds none is counted together, so that the sums are whole.
import {
  countFacts,
  inputTokensIn,
  noUsageSums,
  outputTokensIn,
  type UsageSums,
} from '../../../usage/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { SqliteBase } from '../store.ts';
import type { CountedRecord } from './counted-record.ts';
import { HOUR_MS } from '../../usage/hours.ts';

/** Rows of an hour for the end users of a project: about half a megabyte. */
const MOST_ROWS = 10_000;

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
} as const satisfies Record<string, (counts: UsageSums['counts']) => number>;

interface Row {
  readonly period: number;
  readonly project: number;
  readonly endUser: Uint8Array;
  readonly key: number;
  readonly model: number;
  readonly sums: UsageSums;
}

export class EndUserWriter {
  readonly #mostRows: number;
  /** Binds the counts, then the keys; changes nothing where there is no such row. */
  readonly #update: SqlStatement;
  /** Binds the keys, then the counts. */
  readonly #insert: SqlStatement;
  /** Binds hour and project. */
  readonly #rows: SqlStatement;
  /** Binds hour, project and how many rows there are from now on. */
  readonly #setRows: SqlStatement;

  /** @param mostRows of an hour and project, besides the one for all others */
  constructor({ connection, db }: SqliteBase, mostRows = MOST_ROWS) {
    this.#mostRows = mostRows;
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

  /** Inside a transaction, once for each record. Those that name nobody are passed over. */
  write(records: readonly CountedRecord[]): void {
    for (const row of addedUp(records).values()) {
      if (this.#update.run(...countsOf(row), ...keysOf(row)).changes > 0) continue;
      const { period, project } = row;
      const rows = Number(this.#rows.all(period, project)[0]?.['rows'] ?? 0);
      if (rows < this.#mostRows) {
        this.#insert.run(...keysOf(row), ...countsOf(row));
        this.#setRows.run(period, project, rows + 1);
        continue;
      }
      const others = { ...row, endUser: OTHER_END_USERS };
      if (this.#update.run(...countsOf(others), ...keysOf(others)).changes > 0) continue;
      this.#insert.run(...keysOf(others), ...countsOf(others));
    }
  }
}

function addedUp(records: readonly CountedRecord[]): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const { createdAt, project, key, model, facts } of records) {
    const { endUser } = facts;
    if (endUser === null) continue;
    const period = Math.floor(createdAt / HOUR_MS);
    const name = `${period} ${project} ${endUser} ${key} ${model}`;
    let row = rows.get(name);
    if (!row) {
      const hash = Buffer.from(endUser, 'hex');
      rows.set(name, (row = { period, project, endUser: hash, key, model, sums: noUsageSums() }));
    }
    countFacts(row.sums, facts);
  }
  return rows;
}

function keysOf({ period, project, endUser, key, model }: Row): (number | Uint8Array)[] {
  return [period, project, endUser, key, model];
}

function countsOf({ sums }: Row): number[] {
  return Object.values(END_USER_COUNTS).map((of) => of(sums.counts));
}
