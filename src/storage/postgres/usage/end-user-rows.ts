// Adds records to the sums of their end users. Requests invent end users as they like: an hour has room for so many rows
// of a project, and what finds none is counted together, so that the sums are whole.
import { sql, type Transaction } from 'kysely';
import {
  addUsageSums,
  countFacts,
  inputTokensIn,
  noUsageSums,
  outputTokensIn,
  type UsageSums,
} from '../../../usage/index.ts';
import { HOUR_MS } from '../../usage/hours.ts';
import type { CountedRecord } from '../records/counted-record.ts';
import type { PostgresSchema } from '../store.ts';

/** Rows of an hour for the end users of a project. */
export const MOST_ROWS = 10_000;

/** The end user of a row for all that had no room. */
export const OTHER_END_USERS = '';

const KEYS = ['period', 'project', 'end_user', 'key', 'model'] as const;

interface Row {
  readonly period: number;
  readonly project: string;
  readonly end_user: string;
  readonly key: string;
  readonly model: string;
  readonly sums: UsageSums;
}

const COUNTS = {
  requests: ({ requests }) => requests,
  errors: ({ errors }) => errors,
  charged_errors: (counts) => counts.charged_errors,
  tool_turns: (counts) => counts.tool_turns,
  input_tokens: inputTokensIn,
  output_tokens: outputTokensIn,
  nano_usd: (counts) => counts.nano_usd,
  unpriced: ({ unpriced }) => unpriced,
} as const satisfies Record<string, (counts: UsageSums['counts']) => number>;

export class EndUserRows {
  readonly #writer: number;

  constructor(writer: number) {
    this.#writer = writer;
  }

  /** Inside a transaction, once for each record. Those that name nobody are passed over. */
  async add(tx: Transaction<PostgresSchema>, records: readonly CountedRecord[]): Promise<void> {
    const rows = addedUp(records);
    if (rows.size === 0) return;
    const known = await knownOf(tx, [...rows.values()], this.#writer);
    const fresh = [...rows].filter(([name]) => !known.has(name)).map(([, row]) => row);
    for (const row of await withoutRoom(tx, fresh)) {
      rows.delete(nameOf(row));
      const other = { ...row, end_user: OTHER_END_USERS };
      const there = rows.get(nameOf(other));
      if (there) addUsageSums(there.sums, other.sums);
      else rows.set(nameOf(other), other);
    }
    const names = [...rows.keys()].toSorted();
    await addRows(
      tx,
      names.flatMap((name) => rows.get(name) ?? []),
      this.#writer,
    );
  }
}

function addedUp(records: readonly CountedRecord[]): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const { createdAt, names, endUser, facts } of records) {
    if (endUser === null) continue;
    const { project, key, model } = names;
    const row = { period: Math.floor(createdAt / HOUR_MS), project, end_user: endUser, key, model };
    const name = nameOf(row);
    let known = rows.get(name);
    if (!known) rows.set(name, (known = { ...row, sums: noUsageSums() }));
    countFacts(known.sums, facts);
  }
  return rows;
}

/** Names a row, and orders it. */
function nameOf(row: Omit<Row, 'sums'>): string {
  return KEYS.map((key) => (key === 'period' ? String(row.period).padStart(9, '0') : row[key])).join('\0');
}

const keyList = sql.join(KEYS.map((key) => sql.ref(key)));

function keyArrays(rows: readonly Row[]) {
  return sql.join(
    KEYS.map((key) =>
      key === 'period'
        ? sql`${rows.map(({ period }) => period)}::integer[]`
        : sql`${rows.map((row) => row[key])}::text[]`,
    ),
  );
}

/** Names of those rows that are there. */
async function knownOf(
  tx: Transaction<PostgresSchema>,
  rows: readonly Row[],
  writer: number,
): Promise<ReadonlySet<string>> {
  const found = await sql<Omit<Row, 'sums'>>`
    select ${keyList} from usage_end_users join unnest(${keyArrays(rows)}) v (${keyList}) using (${keyList})
    where writer = ${writer}`.execute(tx);
  return new Set(found.rows.map(nameOf));
}

/**
 * Takes the room that new rows need. Two processes that see the same row first may both take it: the room is then a row
 * smaller than it could be.
 * @returns those that found none
 */
async function withoutRoom(tx: Transaction<PostgresSchema>, rows: readonly Row[]): Promise<readonly Row[]> {
  const hours = new Map<string, Row[]>();
  for (const row of rows) {
    const name = `${String(row.period).padStart(9, '0')}\0${row.project}`;
    const some = hours.get(name);
    if (some) some.push(row);
    else hours.set(name, [row]);
  }
  const left: Row[] = [];
  for (const [, some] of [...hours].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { period, project } = some[0] ?? { period: 0, project: '' };
    const { rows: counted } = await sql<{ rows: number }>`
      insert into usage_end_user_rows as r (period, project, rows) values (${period}, ${project}, ${some.length})
      on conflict (period, project) do update set rows = r.rows + excluded.rows
      returning rows`.execute(tx);
    const excess = (counted[0]?.rows ?? 0) - MOST_ROWS;
    if (excess <= 0) continue;
    left.push(...some.slice(Math.max(0, some.length - excess)));
    await sql`update usage_end_user_rows set rows = least(rows, ${MOST_ROWS})
      where period = ${period} and project = ${project}`.execute(tx);
  }
  return left;
}

async function addRows(tx: Transaction<PostgresSchema>, rows: readonly Row[], writer: number): Promise<void> {
  const counts = Object.entries(COUNTS);
  const names = sql.join(counts.map(([name]) => sql.ref(name)));
  const values = sql.join(counts.map(([, of]) => sql`${rows.map(({ sums }) => of(sums.counts))}::bigint[]`));
  const sums = sql.join(
    counts.map(([name]) => sql`${sql.ref(name)} = u.${sql.ref(name)} + excluded.${sql.ref(name)}`),
  );
  await sql`
    insert into usage_end_users as u (${keyList}, ${names}, writer)
    select *, ${writer}::smallint from unnest(${keyArrays(rows)}, ${values})
    on conflict (${keyList}, writer) do update set ${sums}`.execute(tx);
}
