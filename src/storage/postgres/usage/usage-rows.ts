// Adds records to the sums of their hour and of their day, within the transaction that writes the records. They are added up
// in memory first, so that a row is written once for all that it counts.
import { sql, type Transaction } from 'kysely';
import {
  addUsageDetails,
  addUsageSums,
  countFacts,
  noUsageSums,
  USAGE_COUNTS,
  type UsageDetails,
  type UsageSums,
} from '../../../usage/index.ts';
import { CompactReader } from '../../compact/reader.ts';
import { CompactWriter, NO_NAMES } from '../../compact/writer.ts';
import { readDetails, writeDetails } from '../../usage/usage-details.ts';
import { DAY_HOURS, HOUR_MS } from '../../usage/hours.ts';
import type { CountedRecord, RecordNames } from '../records/counted-record.ts';
import { noName } from '../records/found-records.ts';
import type { PostgresSchema } from '../store.ts';
import { EndUserRows } from './end-user-rows.ts';
import { USAGE_NAMES, type UsageTable } from './usage-tables.ts';

/** Rows of what is over belong to nobody. */
export const NO_WRITER = 0;
const WRITERS = 16;

export interface UsageRow {
  /** Hours or days since 1970, UTC. */
  readonly period: number;
  readonly names: RecordNames;
  readonly sums: UsageSums;
}

/** What a row was before, where there was one. */
interface Known extends RecordNames {
  readonly period: number;
  readonly batches: number;
  readonly details: Buffer;
}

export class UsageRows {
  readonly #writer: number;
  readonly #endUsers: EndUserRows;

  /** @param random a number in [0, 1): processes that write at once should have several writers */
  constructor(random: () => number = Math.random) {
    this.#writer = 1 + Math.floor(random() * WRITERS);
    this.#endUsers = new EndUserRows(this.#writer);
  }

  /** Inside the transaction that writes the records, once for each. */
  async add(tx: Transaction<PostgresSchema>, records: readonly CountedRecord[]): Promise<void> {
    const hours = addedUp(records);
    // Before the details of hours get what is known of them.
    const days = daysOf(hours);
    await this.addRows(tx, 'usage_hourly', hours, this.#writer);
    await this.addRows(tx, 'usage_daily', days, this.#writer);
    await this.#endUsers.add(tx, records);
  }

  /** Adds rows to those of a writer, inside a transaction. Their details become those of the whole row. */
  async addRows(
    tx: Transaction<PostgresSchema>,
    table: UsageTable,
    unordered: readonly UsageRow[],
    writer: number,
  ): Promise<void> {
    if (unordered.length === 0) return;
    // In one order whoever writes: nobody waits for somebody who waits for him.
    const rows = new Map(unordered.map((row) => [nameOf(row.period, row.names), row] as const));
    const names = [...rows.keys()].toSorted();
    const ordered = names.flatMap((name) => rows.get(name) ?? []);
    const known = await insertOrAdd(tx, table, ordered, writer);
    // The rows are this transaction's until it ends: nobody else changes their details in between.
    const changed = known.flatMap(({ batches, details, period, ...own }) => {
      const row = batches === 1 ? undefined : rows.get(nameOf(period, own));
      if (row) addUsageDetails(row.sums.details, detailsOf(details));
      return row ?? [];
    });
    await setDetails(tx, table, changed, writer);
  }
}

/** Details of a row. @throws RangeError when the bytes are none */
export function detailsOf(bytes: Uint8Array): UsageDetails {
  return readDetails(new CompactReader(bytes, noName));
}

const compact = new CompactWriter(NO_NAMES);

/** As a row has them. */
export function bytesOf(details: UsageDetails): Buffer {
  compact.reset();
  writeDetails(compact, details);
  return Buffer.from(compact.written());
}

/** Names a row, and orders it. No name holds the character between them. */
function nameOf(period: number, names: RecordNames): string {
  return [String(period).padStart(9, '0'), ...USAGE_NAMES.map((name) => names[name])].join('\0');
}

function addedUp(records: readonly CountedRecord[]): readonly UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { createdAt, names, facts } of records) {
    const period = Math.floor(createdAt / HOUR_MS);
    countFacts(rowOf(rows, period, names).sums, facts);
  }
  return [...rows.values()];
}

/** Rows of hours as rows of their days. */
export function daysOf(hours: readonly UsageRow[]): readonly UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { period, names, sums } of hours)
    addUsageSums(rowOf(rows, Math.floor(period / DAY_HOURS), names).sums, sums);
  return [...rows.values()];
}

function rowOf(rows: Map<string, UsageRow>, period: number, names: RecordNames): UsageRow {
  const name = nameOf(period, names);
  const known = rows.get(name);
  if (known) return known;
  const row = { period, names, sums: noUsageSums() };
  rows.set(name, row);
  return row;
}

const KEYS = sql.join(['period', ...USAGE_NAMES].map((name) => sql.ref(name)));
const COUNTS = sql.join(USAGE_COUNTS.map((name) => sql.ref(name)));

/** Writes the rows, with their details where they are new. @returns all of them as they are now */
async function insertOrAdd(
  tx: Transaction<PostgresSchema>,
  table: UsageTable,
  rows: readonly UsageRow[],
  writer: number,
): Promise<readonly Known[]> {
  const names = sql.join(USAGE_NAMES.map((name) => sql`${rows.map((row) => row.names[name])}::text[]`));
  const counts = sql.join(
    USAGE_COUNTS.map((name) => sql`${rows.map(({ sums }) => sums.counts[name])}::bigint[]`),
  );
  const sums = sql.join(
    USAGE_COUNTS.map((name) => sql`${sql.ref(name)} = u.${sql.ref(name)} + excluded.${sql.ref(name)}`),
  );
  const { rows: known } = await sql<Known>`
    insert into ${sql.table(table)} as u (${KEYS}, ${COUNTS}, details, writer, batches)
    select *, ${writer}::smallint, 1 from unnest(
      ${rows.map(({ period }) => period)}::integer[], ${names}, ${counts},
      ${rows.map((row) => bytesOf(row.sums.details))}::bytea[])
    on conflict (${KEYS}, writer) do update set ${sums}, batches = u.batches + 1
    returning ${KEYS}, batches, details`.execute(tx);
  return known;
}

async function setDetails(
  tx: Transaction<PostgresSchema>,
  table: UsageTable,
  rows: readonly UsageRow[],
  writer: number,
): Promise<void> {
  if (rows.length === 0) return;
  const names = sql.join(USAGE_NAMES.map((name) => sql`${rows.map((row) => row.names[name])}::text[]`));
  const same = sql.join(
    ['period', ...USAGE_NAMES].map((name) => sql`u.${sql.ref(name)} = v.${sql.ref(name)}`),
    sql` and `,
  );
  await sql`
    update ${sql.table(table)} u set details = v.details
    from unnest(${rows.map(({ period }) => period)}::integer[], ${names},
      ${rows.map((row) => bytesOf(row.sums.details))}::bytea[]) v (${KEYS}, details)
    where u.writer = ${writer} and ${same}`.execute(tx);
}
