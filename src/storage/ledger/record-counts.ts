// Counts of generations that match filters: by interval and state, or by the values of a facet. Reads only the index of
// facts. About 90% of generations are plain `ok`: where sums support the filters, their number is derived from the sums
// without reading records.
import { sql } from 'kysely';
import { REQUEST_STATES } from '../../accounts/ledger/index.ts';
import type {
  GenerationCount,
  GenerationCountQuery,
  GenerationCounts,
  GenerationFacet,
  GenerationFilters,
  UsageQuery,
} from '../../accounts/ports/index.ts';
import type { Database } from '../tables/database.ts';
import {
  filtersOfSums,
  groupsOnce,
  type IdSpan,
  type InGroups,
  leavesOutOk,
  matching,
  NOT_OK,
} from './record-filters.ts';
import { boundsOf, LOOKED_AT, type RecordSpans } from './record-spans.ts';
import type { UsageReader } from './usage-reader.ts';
import { DAY_MS, HOUR_MS } from './usage-tables.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Maximum number of rows read: about 200 ms. */
const MOST_LOOKED_AT = 1_500_000;
/** Maximum number of rows counted for a facet. */
const MOST_COUNTED = 200_000;
const MOST_VALUES = 100;

/** State that the index `records_others` leaves out. */
const OK = REQUEST_STATES.indexOf('ok');
const OTHERS = REQUEST_STATES.filter((state) => state !== 'ok');

export class RecordCounts {
  readonly #database: Database;
  readonly #spans: RecordSpans;
  readonly #usage: UsageReader;

  constructor(database: Database, spans: RecordSpans, usage: UsageReader) {
    this.#database = database;
    this.#spans = spans;
    this.#usage = usage;
  }

  async count(query: GenerationCountQuery): Promise<GenerationCounts> {
    const { filters, edges } = query;
    const known = leavesOutOk(filters) ? null : filtersOfSums(filters);
    const unit = unitOf(edges);
    const found = known && unit ? await this.#bySums(query, known, unit) : await this.#ofRecords(query);
    const intervals = edges.slice(0, -1).map((startMs) => found.sums.get(startMs) ?? none(startMs));
    return { intervals, isExact: found.isExact };
  }

  #ofRecords(query: GenerationCountQuery): Promise<Found> {
    return this.#spans.isOneStatement ? this.#atOnce(query) : this.#piecewise(query);
  }

  /** Counts whole hours from the sums and from records that are not plain `ok`, and the rest from records alone. */
  async #bySums(
    { filters, edges }: GenerationCountQuery,
    known: UsageQuery['filters'],
    unit: 'hour' | 'day',
  ): Promise<Found> {
    const [firstMs, endMs] = [edges[0] ?? 0, edges.at(-1) ?? 0];
    const { fromMs, toMs } = narrower(filters, { fromMs: firstMs, toMs: endMs });
    const hours = await this.#usage.wholeHours(fromMs, toMs);
    const [beginMs, stopMs] = [hours.from * HOUR_MS, hours.to * HOUR_MS];
    if (hours.from === hours.to) return this.#ofRecords({ filters, edges });
    const { state, ...every } = filters;
    const parts = await Promise.all([
      this.#ofRecords({ filters: { ...every, fromMs, toMs: beginMs }, edges }),
      this.#ofRecords({ filters: { ...every, state: OTHERS, fromMs: beginMs, toMs: stopMs }, edges }),
      this.#ofRecords({ filters: { ...every, fromMs: stopMs, toMs }, edges }),
    ]);
    const ms = (edges[1] ?? endMs) - firstMs;
    const all = new Map<number, number>();
    for await (const { startMs, requests } of this.#usage.requests(hours, known, unit)) {
      // A day may begin before its first requested hour.
      const edge = edges[Math.max(0, Math.floor((startMs - firstMs) / ms))] ?? firstMs;
      all.set(edge, (all.get(edge) ?? 0) + requests);
    }
    const sums = new Map<number, GenerationCount>();
    for (const startMs of edges.slice(0, -1)) {
      const counts = parts.map((part) => part.sums.get(startMs) ?? none(startMs));
      const ok = Math.max(0, (all.get(startMs) ?? 0) - (counts[1]?.count ?? 0));
      const states = REQUEST_STATES.map((name, at) => {
        if (state?.includes(name) === false) return 0;
        return counts.reduce((sum, each) => sum + (each.states[at] ?? 0), at === OK ? ok : 0);
      });
      sums.set(startMs, added(none(startMs), states));
    }
    return { sums, isExact: parts.every(({ isExact }) => isExact) };
  }

  async #piecewise({ filters, edges }: GenerationCountQuery): Promise<Found> {
    const sums = new Map<number, GenerationCount>();
    const groups = await groupsOnce(this.#database, filters);
    const hours = await this.#spans.hoursFor(filters);
    let looked = 0;
    // Newest first, because the count may stop before it reaches the oldest.
    for (let at = edges.length - 2; at >= 0; at -= 1) {
      const [startMs, endMs] = [edges[at] ?? 0, edges[at + 1] ?? 0];
      let sum = none(startMs);
      const range = boundsOf(narrower(filters, { fromMs: startMs, toMs: endMs }));
      for await (const piece of this.#spans.pieces(range, filters, { order: 'desc', hours })) {
        sum = added(sum, await this.#counted(piece, filters, groups));
        looked += 1;
        if (looked >= MOST_LOOKED_AT / LOOKED_AT + edges.length)
          return { sums: sums.set(startMs, sum), isExact: false };
      }
      sums.set(startMs, sum);
    }
    return { sums, isExact: true };
  }

  async #atOnce({ filters, edges }: GenerationCountQuery): Promise<Found> {
    const [startMs, endMs] = [edges[0] ?? 0, edges.at(-1) ?? 0];
    const ms = Math.max(1, (edges[1] ?? endMs) - startMs);
    const span = boundsOf(narrower(filters, { fromMs: startMs, toMs: endMs }));
    const groups = await groupsOnce(this.#database, filters);
    const rows = await this.#database.read<{ at: number; state: number; many: number }>(sql`
      select floor((created_at - ${startMs}) / ${sql.lit(ms)}) as at, state, count(*) as many from records
      where ${matching(span, filters, groups)} group by 1, 2`);
    const sums = new Map<number, GenerationCount>();
    for (const { at, state, many } of rows) {
      const edge = edges[Math.min(at, edges.length - 2)];
      if (edge === undefined) continue;
      const states = REQUEST_STATES.map((_, each) => (each === state ? many : 0));
      sums.set(edge, added(sums.get(edge) ?? none(edge), states));
    }
    return { sums, isExact: true };
  }

  async facet(
    filters: GenerationFilters,
    by: GenerationFacet,
  ): Promise<readonly { readonly value: string; readonly count: number }[]> {
    const { fromMs, toMs } = filters;
    const isKnown = by === 'state' && filtersOfSums(filters) !== null;
    if (isKnown && fromMs !== undefined && toMs !== undefined && fromMs < toMs) {
      const { intervals } = await this.count({ filters, edges: [fromMs, toMs] });
      const states = intervals[0]?.states ?? [];
      const found = REQUEST_STATES.map((name, at) => [name, states[at] ?? 0] as const);
      return sorted(new Map(found.filter(([, many]) => many > 0)));
    }
    const counts = new Map<string, number>();
    const ofRow = by === 'state' || by === 'error_kind';
    const groups = await groupsOnce(this.#database, filters);
    // Generations with outcome `ok` have no error kind.
    const having = by === 'error_kind' ? sql`${NOT_OK} and` : sql``;
    const value = ofRow ? sql.ref(`r.${by}`) : sql.ref(`g.${by}`);
    let counted = 0;
    const hours = await this.#spans.hoursFor(filters);
    for await (const span of this.#spans.growing(filters))
      for await (const piece of this.#spans.pieces(span, filters, { order: 'desc', hours })) {
        const column = ofRow ? sql.ref(by) : sql`grp`;
        const rows = await this.#database.read<{ value: string | number | null; many: number }>(sql`
          select ${value} as value, cast(sum(r.many) as bigint) as many from (
            select ${column}, count(*) as many from records where ${having} ${matching(piece, filters, groups)}
            group by ${column}) r
          ${ofRow ? sql`` : sql`join usage_groups g on g.id = r.grp`} group by ${value}`);
        for (const row of rows) {
          if (row.value === null || row.value === '') continue;
          const name = by === 'state' ? (REQUEST_STATES[Number(row.value)] ?? '') : String(row.value);
          counts.set(name, (counts.get(name) ?? 0) + row.many);
          counted += row.many;
        }
        if (counted >= MOST_COUNTED) return sorted(counts);
      }
    return sorted(counts);
  }

  async #counted(piece: IdSpan, filters: GenerationFilters, groups: InGroups): Promise<readonly number[]> {
    const where = matching(piece, filters, groups);
    const found = await this.#database.read<{ state: number; many: number }>(
      sql`select state, count(*) as many from records where ${where} and ${NOT_OK} group by state`,
    );
    const counts = REQUEST_STATES.map((_, at) => found.find(({ state }) => state === at)?.many ?? 0);
    if (leavesOutOk(filters)) return counts;
    // Most are `ok`: counting them as the remainder takes half the time.
    const [all] = await this.#database.read<{ many: number }>(
      sql`select count(*) as many from records where ${where}`,
    );
    const others = counts.reduce((sum, each) => sum + each, 0);
    return counts.map((each, state) => (state === OK ? (all?.many ?? 0) - others : each));
  }
}

interface Found {
  /** By start of the interval, in Unix milliseconds. */
  readonly sums: Map<number, GenerationCount>;
  readonly isExact: boolean;
}

/** Periods that intervals consist of. `null`: intervals are shorter than an hour, or not aligned. */
function unitOf([first = 0, second = 0, ...others]: readonly number[]): 'hour' | 'day' | null {
  // A single interval contains all periods.
  if (others.length === 0) return 'day';
  const isMadeOf = (ms: DurationMs): boolean => first % ms === 0 && (second - first) % ms === 0;
  return isMadeOf(DAY_MS) ? 'day' : isMadeOf(HOUR_MS) ? 'hour' : null;
}

function none(startMs: UnixMs): GenerationCount {
  return { startMs, count: 0, states: REQUEST_STATES.map(() => 0) };
}

function added(sum: GenerationCount, states: readonly number[]): GenerationCount {
  return {
    ...sum,
    count: sum.count + states.reduce((all, each) => all + each, 0),
    states: sum.states.map((each, state) => each + (states[state] ?? 0)),
  };
}

function narrower(
  { fromMs = -Infinity, toMs = Infinity }: GenerationFilters,
  range: { readonly fromMs: UnixMs; readonly toMs: UnixMs },
): { readonly fromMs: UnixMs; readonly toMs: UnixMs } {
  return { fromMs: Math.max(fromMs, range.fromMs), toMs: Math.min(toMs, range.toMs) };
}

function sorted(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, MOST_VALUES);
}
