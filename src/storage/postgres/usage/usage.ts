// The store of sums: reports by time, by whatever records are of, and by end user, added up by the database; what limits are
// set from; and what has to be done in the background.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import {
  ALL_SUMS,
  noUsageDetails,
  noUsageCounts,
  USAGE_COUNTS,
  type UsageCounts,
  type UsageDetails,
  type WantedSums,
} from '../../../usage/index.ts';
import type { LedgerSum, SumQuery } from '../../../limits/index.ts';
import type { Indexer } from '../../journal/indexer.ts';
import type {
  EndUserQuery,
  EndUserUsage,
  UsageDimension,
  UsageQuery,
  UsageReport,
  UsageRow as ReportRow,
  UsageStore,
} from '../../ports.ts';
import { CompactReader } from '../../compact/reader.ts';
import { othersRun } from '../../others-run.ts';
import { DAY_HOURS, HOUR_MS, type HourSpan, hoursOf } from '../../usage/hours.ts';
import { byTimeAndCost, DAY_MS, intervalOf, MOST_REPORT_ROWS, tooManyRows } from '../../usage/report-rows.ts';
import { DayPartitions } from '../records/day-partitions.ts';
import { noName } from '../records/found-records.ts';
import { dayAt } from '../records/row-ids.ts';
import { addDetails } from '../../usage/usage-details.ts';
import type { PostgresBase, PostgresSchema } from '../store.ts';
import { totalsFor } from '../../usage/hour-totals.ts';
import { PostgresHourTotals, totalledRows } from './hour-totals.ts';
import { ledgerSums } from './ledger-sums.ts';
import { UsageUpkeep } from './usage-upkeep.ts';
import { USAGE_NAMES } from './usage-tables.ts';

/** Bytes of details that are added up in one go: some milliseconds. */
const DETAILS_AT_ONCE = 65_536;
/** Days that are made before they come. */
const DAYS_AHEAD = 2;

export class PostgresUsage implements UsageStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #indexer: Indexer;
  readonly #days = new DayPartitions('records');
  readonly #upkeep: UsageUpkeep;
  readonly #totals: PostgresHourTotals;

  constructor({ db, transaction, indexer }: PostgresBase) {
    this.#db = db;
    this.#transaction = transaction;
    this.#indexer = indexer;
    this.#upkeep = new UsageUpkeep(transaction);
    this.#totals = new PostgresHourTotals({ db, transaction });
  }

  async query(query: UsageQuery): Promise<UsageReport> {
    await this.#caughtUp();
    const { interval, groupBy, filters, wanted = ALL_SUMS } = query;
    const span = hoursOf(interval === null ? query.fromMs : intervalOf(query.fromMs, interval), query.toMs);
    const totals = interval === 'hour' ? totalsFor(query) : null;
    const groups = [
      ...(interval === null ? [] : [sql`${startHour(interval)}`]),
      ...groupBy.map((name) => sql.ref(name)),
    ];
    const sums = wanted.counts.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`);
    const details = sql`string_agg(int4send(octet_length(details)) || details, ''::bytea) as details`;
    const { rows } = await sql<ReportedRow>`
      select ${interval === null ? sql`null` : sql`${startHour(interval)}`} as start_hour,
        ${sql.join([...groupBy.map((name) => sql.ref(name)), ...sums, ...(wanted.details ? [details] : [])])}
      from (${totals ? totalledRows(span, totals) : rowsOf(span, interval === 'hour')}) r
      where ${passing(filters)}
      ${groups.length === 0 ? sql`having count(*) > 0` : sql`group by ${sql.join(groups)}`}
      limit ${MOST_REPORT_ROWS + 1}`.execute(this.#db);
    if (rows.length > MOST_REPORT_ROWS) throw tooManyRows();
    const { rows: known } = await sql<{ first: number | null }>`
      select min(period) as first from usage_hourly`.execute(this.#db);
    const first = known[0]?.first ?? span.from;
    const report: ReportRow[] = [];
    let unread = 0;
    for (const row of rows) {
      report.push(reportRow(row, groupBy, wanted));
      unread += row.details?.length ?? 0;
      if (unread < DETAILS_AT_ONCE) continue;
      unread = 0;
      await othersRun();
    }
    return {
      fromMs: Math.min(Math.max(first, span.from), span.to) * HOUR_MS,
      toMs: span.to * HOUR_MS,
      rows: report.toSorted(byTimeAndCost),
      complete: true,
    };
  }

  async endUsers(
    query: EndUserQuery,
  ): Promise<{ readonly rows: readonly EndUserUsage[]; readonly complete: boolean }> {
    await this.#caughtUp();
    const span = hoursOf(query.fromMs, query.toMs);
    const { rows } = await sql<Omit<EndUserUsage, 'endUser'> & { readonly endUser: string }>`
      select project, end_user as "endUser", sum(requests)::bigint as requests, sum(errors)::bigint as errors,
        sum(input_tokens)::bigint as "inputTokens", sum(output_tokens)::bigint as "outputTokens",
        sum(nano_usd)::bigint as "nanoUsd", sum(unpriced)::bigint as unpriced
      from usage_end_users
      where period >= ${span.from} and period < ${span.to} and ${passing(query.filters)}
      group by project, end_user
      order by sum(nano_usd) desc, sum(requests) desc
      limit ${MOST_REPORT_ROWS + 1}`.execute(this.#db);
    if (rows.length > MOST_REPORT_ROWS) throw tooManyRows();
    return { rows: rows.map((row) => ({ ...row, endUser: row.endUser || null })), complete: true };
  }

  async *read(query: SumQuery): AsyncGenerator<readonly LedgerSum[]> {
    await this.#caughtUp();
    yield* ledgerSums(this.#db, query);
  }

  async maintain(nowMs: number): Promise<boolean> {
    const today = dayAt(nowMs);
    const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => today + ahead);
    await this.#transaction((tx) => this.#days.ensure(tx, days)).catch((error: unknown) => {
      this.#days.forget();
      throw error;
    });
    return (await this.#upkeep.putTogether(nowMs)) || (await this.#totals.step(nowMs));
  }

  purge(beforeMs: number): Promise<number> {
    return this.#upkeep.purge(Math.floor(beforeMs / DAY_MS));
  }

  async #caughtUp(): Promise<void> {
    await this.#indexer.caughtUp();
    await this.#indexer.caughtUpWithOthers();
  }
}

type ReportedRow = Partial<UsageCounts> & { readonly [name in UsageDimension]?: string } & {
  readonly start_hour: number | null;
  readonly details?: Buffer;
};

function reportRow(row: ReportedRow, groupBy: readonly UsageDimension[], wanted: WantedSums): ReportRow {
  const counts = noUsageCounts();
  for (const name of wanted.counts) counts[name] = row[name] ?? 0;
  return {
    startMs: row.start_hour === null ? null : row.start_hour * HOUR_MS,
    group: Object.fromEntries(groupBy.map((name) => [name, row[name] || null])),
    sums: { counts, details: row.details ? addedUp(row.details) : noUsageDetails() },
  };
}

/** Details of many rows, each behind its length. */
function addedUp(bytes: Buffer): UsageDetails {
  const sum = noUsageDetails();
  // One for all of them: to make one for each takes longer than what it reads.
  const reader = new CompactReader(bytes, noName);
  for (let at = 0; at < bytes.length;) {
    const start = at + 4;
    at = start + bytes.readInt32BE(at);
    reader.passTo(start);
    addDetails(sum, reader);
    reader.passTo(at);
  }
  return sum;
}

/** Rows of hours, or of days where whole ones lie in the span, each with the hour at which it begins. */
function rowsOf(span: HourSpan, byHour: boolean): RawBuilder<unknown> {
  const columns = sql.join([...USAGE_NAMES, ...USAGE_COUNTS, 'details'].map((name) => sql.ref(name)));
  const hours = (from: number, to: number) =>
    sql`select period as hour, ${columns} from usage_hourly where period >= ${from} and period < ${to}`;
  const firstDay = Math.ceil(span.from / DAY_HOURS);
  const endDay = Math.floor(span.to / DAY_HOURS);
  if (byHour || firstDay >= endDay) return hours(span.from, span.to);
  return sql`${hours(span.from, firstDay * DAY_HOURS)}
    union all select period * ${sql.lit(DAY_HOURS)} as hour, ${columns} from usage_daily
      where period >= ${firstDay} and period < ${endDay}
    union all ${hours(endDay * DAY_HOURS, span.to)}`;
}

/** The hour at which the interval of a row begins. */
function startHour(interval: NonNullable<UsageQuery['interval']>): RawBuilder<unknown> {
  if (interval === 'hour') return sql`hour`;
  if (interval === 'day') return sql`hour / ${sql.lit(DAY_HOURS)} * ${sql.lit(DAY_HOURS)}`;
  return sql`(extract(epoch from date_trunc('month', to_timestamp(hour::float8 * 3600) at time zone 'UTC')) / 3600)::integer`;
}

function passing(filters: { readonly [name in UsageDimension]?: readonly string[] | undefined }) {
  const conditions = USAGE_NAMES.flatMap((name) => {
    const texts = filters[name];
    return texts ? [sql<boolean>`${sql.ref(name)} = any(${texts}::text[])`] : [];
  });
  return conditions.length === 0 ? sql<boolean>`true` : sql.join(conditions, sql` and `);
}
