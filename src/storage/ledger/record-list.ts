// Lists generations that match filters, ordered by time or by a measure. Searches only the index of facts, then reads
// the records of the page.
import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { Database } from '../tables/database.ts';
import type { AnswerTime, GenerationOrder, GenerationQuery } from '../../accounts/ports/index.ts';
import { groupsOnce, matching } from './record-filters.ts';
import { asksForEndUsers, boundsOf, type Direction, placeOf, type RecordSpans } from './record-spans.ts';
import type { UnixMs } from '../../base/units.ts';

export interface RecordRow {
  readonly id: Uint8Array;
  readonly record: Uint8Array;
}

/** Position in a list that is ordered by a measure. */
interface Place {
  readonly id: Uint8Array;
  readonly value: number;
}

const MEASURES: Readonly<Record<Exclude<GenerationOrder, 'time'>, string>> = {
  duration: 'duration_ms',
  first_content: 'first_content_ms',
  cost: 'nano_usd',
  tokens: 'tokens',
};
/** Stand for a missing value: last in each order. */
const NO_VALUE = { desc: -1, asc: 2 ** 52 } as const;
/** Maximum number of times that are read for an endpoint. */
const MOST_TIMES = 2_000;

export class RecordList {
  readonly #database: Database;
  readonly #spans: RecordSpans;

  constructor(database: Database, spans: RecordSpans) {
    this.#database = database;
    this.#spans = spans;
  }

  /** Matching rows in order, at most one more than `limit`. Yields to other work in between. */
  async rows(query: GenerationQuery): Promise<readonly RecordRow[]> {
    const { orderBy = 'time' } = query;
    const ids = orderBy === 'time' ? await this.#byTime(query) : await this.#byMeasure(query, orderBy);
    if (ids.length === 0) return [];
    const found = await this.#database.read<RecordRow>(
      sql`select id, record from records where id in (${sql.join(ids)})`,
    );
    const records = new Map(found.map((row) => [Buffer.from(row.id).toString('latin1'), row]));
    return ids.flatMap((id) => records.get(Buffer.from(id).toString('latin1')) ?? []);
  }

  async times(model: string, endpoint: string, fromMs: UnixMs): Promise<readonly AnswerTime[]> {
    const filters = { model: [model], endpoint: [endpoint], state: ['ok'] as const, fromMs };
    const found: AnswerTime[] = [];
    const groups = await groupsOnce(this.#database, filters);
    for await (const span of this.#spans.all(filters))
      for await (const piece of this.#spans.pieces(span, filters, { order: 'desc' })) {
        const rows = await this.#database.read<{ duration_ms: number; first_content_ms: number | null }>(sql`
          select duration_ms, first_content_ms from records
          where attempts = 1 and ${matching(piece, filters, groups)}
          order by id desc limit ${MOST_TIMES - found.length}`);
        for (const row of rows)
          found.push({ durationMs: row.duration_ms, firstContentMs: row.first_content_ms });
        if (found.length >= MOST_TIMES) return found;
      }
    return found;
  }

  async #byTime({ filters, order, limit, after }: GenerationQuery): Promise<readonly Uint8Array[]> {
    const found: Uint8Array[] = [];
    const isWhole = asksForEndUsers(filters);
    const groups = await groupsOnce(this.#database, filters);
    for await (const span of this.#spans.of(boundsOf(filters, order, after), filters, order))
      for await (const piece of this.#spans.pieces(span, filters, { order, isWhole })) {
        const rows = await this.#database.read<{ id: Uint8Array }>(sql`
          select id from records where ${matching(piece, filters, groups)}
          order by id ${sql.raw(order)} limit ${limit + 1 - found.length}`);
        found.push(...rows.map(({ id }) => id));
        if (found.length > limit) return found;
      }
    return found;
  }

  /** Searches all pieces, and keeps the first rows of all of them. */
  async #byMeasure(
    { filters, order, limit, after }: GenerationQuery,
    by: keyof typeof MEASURES,
  ): Promise<readonly Uint8Array[]> {
    const measure = sql.ref(MEASURES[by]);
    // Records without a value come last in both orders.
    const value = sql`coalesce(${measure}, ${sql.lit(NO_VALUE[order])})`;
    const start = after === undefined ? null : await this.#placeOf(after, value);
    const groups = await groupsOnce(this.#database, filters);
    const hours = await this.#spans.hoursFor(filters);
    let found: readonly Place[] = [];
    for await (const span of this.#spans.growing(filters))
      for await (const piece of this.#spans.pieces(span, filters, { order: 'desc', hours })) {
        const worst = found.length > limit ? found.at(-1) : undefined;
        // First of the conditions, because it rejects most records.
        const bar = worst && worst.value !== NO_VALUE[order] ? reaching(measure, worst, order) : sql`true`;
        const rows = await this.#database.read<Place>(sql`
          select id, ${value} as value from records
          where ${bar} ${start ? sql`and ${beyond(value, start, order)}` : sql``}
            and ${matching(piece, filters, groups)}
          order by ${value} ${sql.raw(order)}, id ${sql.raw(order)} limit ${limit + 1}`);
        if (rows.length > 0) found = [...found, ...rows].toSorted(inOrder(order)).slice(0, limit + 1);
      }
    return found.map(({ id }) => id);
  }

  async #placeOf(after: string, value: RawBuilder<unknown>): Promise<Place> {
    const id = placeOf(after);
    const [row] = await this.#database.read<{ value: number }>(
      sql`select ${value} as value from records where id = ${id}`,
    );
    if (row) return { id, value: row.value };
    throw new GatewayError('invalid_request', 'after: this generation no longer exists', {
      param: 'after',
    });
  }
}

/** At least as good as a place that has a value. */
function reaching(measure: RawBuilder<unknown>, worst: Place, order: Direction): RawBuilder<unknown> {
  return sql`${measure} ${sql.raw(order === 'desc' ? '>=' : '<=')} ${worst.value}`;
}

function beyond(value: RawBuilder<unknown>, start: Place, order: Direction): RawBuilder<unknown> {
  const sign = sql.raw(order === 'desc' ? '<' : '>');
  return sql`(${value} ${sign} ${start.value} or (${value} = ${start.value} and id ${sign} ${start.id}))`;
}

function inOrder(order: Direction): (a: Place, b: Place) => number {
  const sign = order === 'desc' ? -1 : 1;
  return (a, b) => sign * (a.value - b.value || Buffer.compare(a.id, b.id));
}
