// Reports from rows of sums. PostgreSQL adds them up with one GROUP BY per part of the time range. SQLite returns rows
// in key order, some at a time, and the gateway adds them up: this needs a third of the time of sorting for a GROUP BY,
// and does not block other work.
import { type RawBuilder, sql } from 'kysely';
import {
  ALL_SUMS,
  lengthOf,
  UTC,
  noUsageSums,
  type UsageSums,
  type WantedSums,
} from '../../accounts/usage/index.ts';
import { othersRun } from '../others-run.ts';
import type { Database } from '../tables/database.ts';
import type { UsageQuery, UsageReport, UsageRow } from '../../accounts/ports/index.ts';
import { addPacked } from './packed-details.ts';
import { edgeOf, foldedUpTo, MOST_REPORT_ROWS, oneOf, purgedBefore, tooManyRows } from './report-queries.ts';
import {
  type HourRange,
  partsOf,
  type SpanPart,
  spanParts,
  totalsFor,
  type UsagePart,
} from './usage-spans.ts';
import { addedUp, type GroupedBy, oneByOne, passing, PIECE_ROWS } from './usage-statements.ts';
import { DAY, DAY_MS, FIVE, FIVE_MINUTES_PER_HOUR, HOUR, HOUR_MS, HOURS, periodMs } from './usage-tables.ts';
import type { UnixMs } from '../../base/units.ts';

type Filters = UsageQuery['filters'];

interface Sum {
  readonly startMs: UnixMs | null;
  readonly group: UsageRow['group'];
  readonly sums: UsageSums;
}

interface FoundRow extends Readonly<Record<string, unknown>> {
  readonly start: number;
  /** Group of a row; absent if the database added rows up. */
  readonly grp?: number;
}

/** Names of a group, by dimension. */
type GroupNames = Readonly<Record<string, unknown>>;

export class UsageReader {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws GatewayError `invalid_request` for more than 10,000 rows */
  async report(query: UsageQuery): Promise<UsageReport> {
    const { interval, groupBy, filters, wanted = ALL_SUMS } = query;
    const folded = await this.#database.ask(foldedUpTo);
    const first = (await this.#firstHour()) ?? 0;
    const firstMs = first * HOUR_MS;
    const inUse = { fromMs: firstMs, toMs: this.#database.now() + DAY_MS };
    const { fromMs, toMs, parts } = partsOf(query, folded, inUse);
    const stepMs = interval && lengthOf(interval, query.timeZone ?? UTC);
    const groups = new Map<string, Sum>();
    const names = new Map<number, GroupNames>();
    // Sums of the current interval by group. Rows come in order of time, so that names are joined once per group.
    const known = new Map<number, UsageSums>();
    let knownMs: UnixMs | null = null;
    const sumOf = (row: FoundRow, part: UsagePart): UsageSums => {
      const startMs = interval && (part.startMs ?? row.start);
      if (startMs !== knownMs) known.clear();
      knownMs = startMs;
      const found = row.grp === undefined ? undefined : known.get(row.grp);
      if (found) return found;
      const named = row.grp === undefined ? row : (names.get(row.grp) ?? {});
      const name = `${startMs} ${groupBy.map((each) => String(named[each])).join('\0')}`;
      let sum = groups.get(name);
      if (!sum) {
        if (groups.size === MOST_REPORT_ROWS) throw tooManyRows();
        const group = Object.fromEntries(groupBy.map((each) => [each, (named[each] as string) || null]));
        groups.set(name, (sum = { startMs, group, sums: noUsageSums() }));
      }
      if (row.grp !== undefined) known.set(row.grp, sum.sums);
      return sum.sums;
    };
    const wanting = await this.#groupsWith(filters);
    for (const part of parts) {
      const by = { part, stepMs, groupBy, filters: wanting ? {} : filters };
      for await (const rows of this.#rows(by, wanting, wanted)) {
        if (groupBy.length > 0) await this.#readNames(names, rows, groupBy);
        for (const row of rows) {
          const { counts, details } = sumOf(row, part);
          for (const name of wanted.counts) counts[name] += Number(row[name] ?? 0);
          if (wanted.details) addPacked(details, String(row['details']));
        }
      }
    }
    return {
      fromMs: Math.min(Math.max(firstMs, fromMs), toMs),
      toMs,
      rows: [...groups.values()].toSorted(byTimeAndCost),
    };
  }

  /** Last uses of keys: the start of the last 5-minute period, or of the last day (Unix milliseconds). */
  async lastUsed(keys?: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const wanted = keys ? oneOf('g.key', keys) : sql`true`;
    for (const span of [DAY, FIVE]) {
      const rows = await this.#database.read<{ readonly key: string; readonly period: number }>(sql`
          select g.key, max(u.period) as period from usage u join usage_groups g on g.id = u.grp
          where u.span = ${sql.lit(span)} and u.period > 0 and ${wanted} group by g.key`);
      for (const { key, period } of rows)
        found.set(key, Math.max(found.get(key) ?? 0, period * periodMs(span)));
      await othersRun();
    }
    return found;
  }

  /**
   * Hours with rows of certain groups. Found through rows of days, and through 5-minute rows that are not folded yet.
   * @param groups condition on `g`
   */
  async *hoursWith(
    range: HourRange,
    groups: RawBuilder<unknown>,
    order: 'asc' | 'desc',
  ): AsyncGenerator<number> {
    const { hour: folded } = await this.#database.ask(foldedUpTo);
    const known = { from: range.from, to: Math.min(range.to, folded) };
    const recent = { from: Math.max(range.from, folded), to: range.to };
    if (order === 'desc') yield* await this.#recentWith(recent, groups, order);
    const days = { from: Math.floor(known.from / HOURS), to: Math.ceil(known.to / HOURS) };
    for (const day of await this.#periodsWith(DAY, days, groups, order)) {
      const hours = { from: Math.max(known.from, day * HOURS), to: Math.min(known.to, (day + 1) * HOURS) };
      yield* await this.#periodsWith(HOUR, hours, groups, order);
    }
    if (order === 'asc') yield* await this.#recentWith(recent, groups, order);
  }

  async #recentWith(
    { from, to }: HourRange,
    groups: RawBuilder<unknown>,
    order: 'asc' | 'desc',
  ): Promise<readonly number[]> {
    const fives = { from: from * FIVE_MINUTES_PER_HOUR, to: to * FIVE_MINUTES_PER_HOUR };
    const periods = await this.#periodsWith(FIVE, fives, groups, order);
    return [...new Set(periods.map((period) => Math.floor(period / FIVE_MINUTES_PER_HOUR)))];
  }

  async #periodsWith(
    span: number,
    { from, to }: HourRange,
    groups: RawBuilder<unknown>,
    order: 'asc' | 'desc',
  ): Promise<readonly number[]> {
    if (from >= to) return [];
    const rows = await this.#database.read<{ period: number }>(sql`
        select distinct u.period from usage u where u.span = ${span} and u.period >= ${from} and u.period < ${to}
          and u.grp in (select g.id from usage_groups g where ${groups})
        order by u.period ${sql.raw(order)}`);
    await othersRun();
    return rows.map(({ period }) => period);
  }

  /**
   * Whole hours in a time range for which sums and records agree, because neither have been deleted.
   * @param toMs Unix milliseconds; the range is empty if it contains no whole hour
   */
  async wholeHours(fromMs: UnixMs, toMs: UnixMs): Promise<HourRange> {
    const { ask } = this.#database;
    const purgedMs = await ask(purgedBefore);
    const { hour: folded } = await ask(foldedUpTo);
    // Sums are deleted from the first hour on, a few rows at a time, so that the first hour may be incomplete.
    const first = (await ask(() => edgeOf(HOUR, 'asc'))) ?? folded - 1;
    const from = Math.max(Math.ceil(Math.max(fromMs, purgedMs) / HOUR_MS), first + 1);
    return { from, to: Math.max(from, Math.floor(toMs / HOUR_MS)) };
  }

  /** Numbers of requests by hour, as far as sums and records agree. Only folded hours, whose totals are few rows. */
  async requestsByHour(fromMs: UnixMs, toMs: UnixMs): Promise<RequestsByHour> {
    const [whole, folded] = [await this.wholeHours(fromMs, toMs), await this.#database.ask(foldedUpTo)];
    const hours = { from: whole.from, to: Math.max(whole.from, Math.min(whole.to, folded.hour)) };
    const requests = new Map<number, number>();
    for await (const { startMs, requests: many } of this.requests(hours, {}, 'hour'))
      requests.set(startMs / HOUR_MS, many);
    return { hours, requests };
  }

  /** Number of matching requests by start of their hour or day (Unix milliseconds, UTC). */
  async *requests(
    hours: HourRange,
    filters: Filters,
    by: 'hour' | 'day',
  ): AsyncGenerator<{ readonly startMs: UnixMs; readonly requests: number }> {
    const folded = await this.#database.ask(foldedUpTo);
    const groups = await this.#groupsWith(filters);
    const totals = totalsFor({ groupBy: [], filters });
    const asked = { stepMs: by === 'day' ? DAY_MS : HOUR_MS, groupBy: [], filters: groups ? {} : filters };
    for (const part of spanParts(hours, folded, { finest: by, totals }))
      for await (const rows of this.#rows({ part, ...asked }, groups, REQUESTS))
        for (const row of rows) yield { startMs: row.start, requests: Number(row['requests']) };
  }

  /** Ids of matching groups, if there are few: their rows are looked up directly. `null`: many, or no filters. */
  async #groupsWith(filters: Filters): Promise<readonly number[] | null> {
    if (Object.values(filters).every((filter) => filter === undefined)) return null;
    const found = await this.#database.read<{ readonly id: number }>(
      sql`select g.id from usage_groups g where ${passing(filters)} limit ${FEW_GROUPS + 1}`,
    );
    return found.length > FEW_GROUPS ? null : found.map(({ id }) => id);
  }

  /** @param groups ids of matching groups, used instead of the filters. `null`: many */
  async *#rows(
    by: GroupedBy,
    groups: readonly number[] | null,
    wanted: WantedSums,
  ): AsyncGenerator<readonly FoundRow[]> {
    const { span, from, to } = by.part;
    const { read, kind, dialect } = this.#database;
    const of = groups ? sql`u.span = ${span} and ${oneOf('u.grp', groups)}` : sql`u.span = ${span}`;
    if (kind === 'postgres') {
      const within = sql`${of} and u.period >= ${from} and u.period < ${to}`;
      const asked = addedUp(by, within, wanted, dialect);
      yield await read<FoundRow>(asked);
    } else if (groups)
      for (const periods of await this.#periodsOf(
        by.part,
        Math.floor(PIECE_ROWS / Math.max(1, groups.length)),
      )) {
        const asked = oneByOne(by, sql`${of} and ${oneOf('u.period', periods)}`, wanted);
        yield await read<FoundRow>(asked);
        await othersRun();
      }
    else
      for (let [period, grp] = [from, -1]; period < to;) {
        const asked = oneByOne(
          by,
          sql`${of} and (u.period, u.grp) > (${period}, ${grp}) and u.period < ${to}`,
          wanted,
        );
        const rows = await read<FoundRow>(asked);
        yield rows;
        await othersRun();
        const last = rows.at(-1);
        if (!last || rows.length < PIECE_ROWS) break;
        [period, grp] = [Number(last['period']), Number(last.grp)];
      }
  }

  /** Reads names of groups that are not known yet: once per report, because joining them would take a third of its time. */
  async #readNames(
    names: Map<number, GroupNames>,
    rows: readonly FoundRow[],
    groupBy: UsageQuery['groupBy'],
  ): Promise<void> {
    const ids = new Set(rows.flatMap(({ grp }) => (grp === undefined || names.has(grp) ? [] : [grp])));
    if (ids.size === 0) return;
    const columns = ['id', ...groupBy].map((name) => sql.ref(name));
    const found = await this.#database.read<GroupNames & { readonly id: number }>(
      sql`select ${sql.join(columns)} from usage_groups where ${this.#database.dialect.among('id', [...ids])}`,
    );
    for (const { id, ...group } of found) names.set(id, group);
  }

  /** Periods of a part, in chunks of `size`. */
  async #periodsOf({ span, from, to }: SpanPart, size: number): Promise<readonly (readonly number[])[]> {
    const [edges] = await this.#database.read<{
      readonly first: number | null;
      readonly last: number | null;
    }>(sql`select (select min(period) from usage where span = ${span} and period >= ${from}) as first,
          (select max(period) from usage where span = ${span} and period < ${to}) as last`);
    const [first, end] = [edges?.first ?? to, (edges?.last ?? from) + 1];
    const periods = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
    return Array.from({ length: Math.ceil(periods.length / size) }, (_, at) =>
      periods.slice(at * size, (at + 1) * size),
    );
  }

  /** First hour with rows. `null`: there are no rows. */
  async #firstHour(): Promise<number | null> {
    const edges = await this.#database.ask(function* () {
      return [yield* edgeOf(HOUR, 'asc'), yield* edgeOf(FIVE, 'asc')] as const;
    });
    const hours = [
      edges[0],
      edges[1] === undefined ? undefined : Math.floor(edges[1] / FIVE_MINUTES_PER_HOUR),
    ];
    const known = hours.filter((hour) => hour !== undefined);
    return known.length === 0 ? null : Math.min(...known);
  }
}

export interface RequestsByHour {
  /** Hours that are known. */
  readonly hours: HourRange;
  /** By hour since 1970. Absent: none. */
  readonly requests: ReadonlyMap<number, number>;
}

const REQUESTS: WantedSums = { counts: ['requests'], details: false };
/** Maximum number of groups whose rows are looked up directly. */
const FEW_GROUPS = 200;

function byTimeAndCost(a: Sum, b: Sum): number {
  return (
    (a.startMs ?? 0) - (b.startMs ?? 0) ||
    b.sums.counts.nano_usd - a.sums.counts.nano_usd ||
    b.sums.counts.requests - a.sums.counts.requests
  );
}
