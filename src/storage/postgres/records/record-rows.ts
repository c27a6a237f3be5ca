// Writes the rows of records, and into the sums what was not there before: once for each record, however often its entry
// is brought in, and by whichever process.
import { sql, type Transaction } from 'kysely';
import type { PostgresSchema } from '../store.ts';
import type { UsageRows } from '../usage/usage-rows.ts';
import { type CountedRecord, outcomeOf, spentBy } from './counted-record.ts';
import type { DayPartitions } from './day-partitions.ts';
import { dayOf } from './row-ids.ts';

/** Prompt and answer of a record, as JSON. */
export interface RecordContent {
  readonly id: Buffer;
  readonly request: string;
  readonly answer: string;
}

export class RecordRows {
  readonly #usage: Pick<UsageRows, 'add'>;
  readonly #days: DayPartitions;
  readonly #contentDays: DayPartitions;

  /** @param usage what new records are counted in */
  constructor(usage: Pick<UsageRows, 'add'>, days: DayPartitions, contentDays: DayPartitions) {
    this.#usage = usage;
    this.#days = days;
    this.#contentDays = contentDays;
  }

  /** Inside a transaction, which is to be tried again where this fails: a day may have been dropped meanwhile. */
  async write(records: readonly CountedRecord[], tx: Transaction<PostgresSchema>): Promise<void> {
    try {
      await this.#write(records, tx);
    } catch (error) {
      this.#days.forget();
      this.#contentDays.forget();
      throw error;
    }
  }

  /** The same for prompts and answers whose records are there. */
  async writeContents(contents: readonly RecordContent[], tx: Transaction<PostgresSchema>): Promise<void> {
    try {
      await this.#writeContents(contents, tx);
    } catch (error) {
      this.#contentDays.forget();
      throw error;
    }
  }

  async #writeContents(contents: readonly RecordContent[], tx: Transaction<PostgresSchema>): Promise<void> {
    await this.#contentDays.ensure(tx, daysOf(contents));
    await insertContents(tx, contents);
  }

  async #write(unordered: readonly CountedRecord[], tx: Transaction<PostgresSchema>): Promise<void> {
    // In one order whoever writes: two that bring in the same must not wait for each other.
    const records = unordered.toSorted((a, b) => Buffer.compare(a.id, b.id));
    if (records.length === 0) return;
    await this.#days.ensure(tx, daysOf(records));
    const isNew = await insertRecords(tx, records);
    const added = records.filter(({ id }) => isNew.delete(id.toString('latin1')));
    await insertElsewhere(tx, added);
    const contents = added.flatMap(({ id, columns: { request, answer } }) =>
      request === null || answer === null ? [] : [{ id, request, answer }],
    );
    if (contents.length > 0) await this.#writeContents(contents, tx);
    await this.#usage.add(tx, added);
  }
}

function daysOf(records: readonly Pick<CountedRecord, 'id'>[]): readonly number[] {
  return records.flatMap(({ id }) => dayOf(id) ?? []);
}

/** @returns ids of those that were not there, byte by byte as characters */
async function insertRecords(
  tx: Transaction<PostgresSchema>,
  records: readonly CountedRecord[],
): Promise<Set<string>> {
  const column = <T>(of: (record: CountedRecord) => T): T[] => records.map(of);
  const spent = records.map(({ facts }) => spentBy(facts));
  const { rows } = await sql<{ id: Buffer }>`
    insert into records (id, created_at, project, key, model, provider, endpoint, protocol, end_user, status, outcome,
      is_late, requests, tokens, nano_usd, cost_usd, record)
    select * from unnest(
      ${column(({ id }) => id)}::bytea[],
      ${column(({ createdAt }) => createdAt)}::double precision[],
      ${column(({ names }) => names.project)}::text[],
      ${column(({ names }) => names.key)}::text[],
      ${column(({ names }) => names.model)}::text[],
      ${column(({ names }) => names.provider)}::text[],
      ${column(({ names }) => names.endpoint)}::text[],
      ${column(({ names }) => names.protocol)}::text[],
      ${column(({ endUser }) => endUser)}::text[],
      ${column(({ columns }) => columns.status)}::integer[],
      ${column(({ facts }) => outcomeOf(facts))}::smallint[],
      ${column(({ facts }) => facts.isLate)}::boolean[],
      ${spent.map(({ requests }) => requests)}::smallint[],
      ${spent.map(({ tokens }) => tokens)}::bigint[],
      ${spent.map(({ nanoUsd }) => nanoUsd)}::bigint[],
      ${column(({ columns }) => columns.costUsd)}::double precision[],
      ${column(({ columns }) => Buffer.from(columns.rest))}::bytea[])
    on conflict (id) do nothing
    returning id`.execute(tx);
  return new Set(rows.map(({ id }) => id.toString('latin1')));
}

async function insertElsewhere(
  tx: Transaction<PostgresSchema>,
  records: readonly CountedRecord[],
): Promise<void> {
  const elsewhere = records.filter(({ isElsewhere }) => isElsewhere);
  if (elsewhere.length === 0) return;
  await sql`
    insert into records_elsewhere (created_at, id)
    select * from unnest(
      ${elsewhere.map(({ createdAt }) => createdAt)}::double precision[],
      ${elsewhere.map(({ id }) => id)}::bytea[])
    on conflict do nothing`.execute(tx);
}

async function insertContents(
  tx: Transaction<PostgresSchema>,
  contents: readonly RecordContent[],
): Promise<void> {
  await sql`
    insert into record_contents (id, request, answer)
    select * from unnest(
      ${contents.map(({ id }) => id)}::bytea[],
      ${contents.map(({ request }) => request)}::text[],
      ${contents.map(({ answer }) => answer)}::text[])
    on conflict (id) do nothing`.execute(tx);
}
