// Ranges of record ids to search. Sums tell in which hours there can be matches. In SQLite, ranges are split into
// pieces of a few milliseconds, because queries block the event loop.
import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { GenerationFilters, GenerationQuery } from '../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries } from '../tables/database.ts';
import { behind, END_OF_TIMES, firstIdAt, timeOf } from '../record-ids.ts';
import { othersRun } from '../others-run.ts';
import { groupsOfHours, type IdSpan, leavesOutOk, NOT_OK } from './record-filters.ts';
import type { RequestsByHour, UsageReader } from './usage-reader.ts';
import { DAY_MS, HOUR_MS } from './usage-tables.ts';

/** Rows that one SQLite statement reads: about 2 ms. */
export const LOOKED_AT = 15_000;
/** Greater than every hour. */
const NO_HOUR = 2_000_000_000;

export type Direction = GenerationQuery['order'];

export class RecordSpans {
  readonly #database: Database;
  readonly #usage: UsageReader;

  constructor(database: Database, usage: UsageReader) {
    this.#database = database;
    this.#usage = usage;
  }

  /** Ranges that may contain matches. Consecutive hours are joined. */
  async *of(bounds: IdSpan, filters: GenerationFilters, order: Direction): AsyncGenerator<IdSpan> {
    const groups = groupsOfHours(filters);
    // Indexes find end users and records that are not `ok`.
    if (groups === null || asksForEndUsers(filters) || leavesOutOk(filters)) return yield bounds;
    let most = FIRST_HOURS;
    let run: { from: number; to: number } | null = null;
    for await (const hour of this.#usage.hoursWith(hoursIn(bounds), groups, order)) {
      if (run && (order === 'asc' ? hour === run.to : hour === run.from - 1) && run.to - run.from < most)
        run = { from: Math.min(run.from, hour), to: Math.max(run.to, hour + 1) };
      else {
        if (run) {
          yield within(run, bounds);
          most *= 2;
        }
        run = { from: hour, to: hour + 1 };
      }
    }
    if (run) yield within(run, bounds);
  }

  /** True if one statement may search everything without blocking other work. */
  get isOneStatement(): boolean {
    return this.#database.kind === 'postgres';
  }

  /** Ranges that may contain matches, newest first, for callers that read all of them. */
  async *all(filters: GenerationFilters): AsyncGenerator<IdSpan> {
    if (this.isOneStatement) yield boundsOf(filters);
    else yield* this.of(boundsOf(filters), filters, 'desc');
  }

  /**
   * The ranges of `all`, for callers that need less the more they have found. In PostgreSQL one statement would read
   * everything. Instead, ranges are a day, two days, four and so on.
   */
  async *growing(filters: GenerationFilters): AsyncGenerator<IdSpan> {
    if (!this.isOneStatement) return yield* this.all(filters);
    const { from, to } = boundsOf(filters);
    const now = this.#database.now();
    const endMs = Math.min(timeOf(to) ?? now, now);
    let end = to;
    for (let lengthMs = DAY_MS; lengthMs < LONGEST_MS; lengthMs *= 2) {
      const begin = firstIdAt(endMs - lengthMs);
      if (Buffer.compare(begin, from) <= 0) break;
      yield { from: begin, to: end };
      end = begin;
    }
    yield { from, to: end };
  }

  /**
   * Requests by hour, for `pieces` in callers that read all of them: finding the ends of pieces costs as much as reading
   * the pieces. Null: `pieces` does not need it.
   */
  async hoursFor(filters: GenerationFilters): Promise<RequestsByHour | null> {
    if (this.isOneStatement || leavesOutOk(filters)) return null;
    return this.#usage.requestsByHour(filters.fromMs ?? 0, filters.toMs ?? Infinity);
  }

  /** Splits a span into pieces with a limited number of rows to check. Other work runs after each. */
  async *pieces(
    span: IdSpan,
    filters: GenerationFilters,
    { order, isWhole = false, hours = null }: PieceOptions,
  ): AsyncGenerator<IdSpan> {
    const { ask } = this.#database;
    const isOne = isWhole || this.isOneStatement;
    const among = leavesOutOk(filters) ? sql`and ${NOT_OK}` : sql``;
    let rest: IdSpan | null = span;
    while (rest && Buffer.compare(rest.from, rest.to) < 0) {
      const all: IdSpan = rest;
      let bound = isOne ? null : hours ? boundByHours(all, hours) : undefined;
      if (bound === undefined) bound = await ask(() => this.#bound(all, order, among));
      // Ascending, the bound is the first id of the next piece; descending, the last id of this one.
      const [part, following] = bound ? split(all, bound, order) : [all, null];
      yield part;
      await othersRun();
      rest = following;
    }
  }

  /** Id at which a piece ends. `null`: the rest fits into one piece. */
  *#bound({ from, to }: IdSpan, order: Direction, among: RawBuilder<unknown>): Queries<Buffer | null> {
    const bound = yield* firstOf<{ readonly id: Uint8Array }>(sql`
      select id from records where id >= ${from} and id < ${to} ${among} order by id ${sql.raw(order)}
      limit 1 offset ${order === 'asc' ? LOOKED_AT : LOOKED_AT - 1}`);
    return bound ? Buffer.from(bound.id) : null;
  }
}

interface PieceOptions {
  readonly order: Direction;
  /** True: do not split. */
  readonly isWhole?: boolean;
  /** Result of `hoursFor`, only with `desc`. */
  readonly hours?: RequestsByHour | null;
}

/**
 * Id at which the last piece of a span begins, so that it has few requests. `null`: the whole span has few. `undefined`:
 * unknown, or its last hour alone has too many. Deferred usage is not counted: an hour has at most twice as many rows.
 */
function boundByHours({ from, to }: IdSpan, { hours, requests }: RequestsByHour): Buffer | null | undefined {
  const [beginMs, endMs] = [timeOf(from) ?? 0, timeOf(to)];
  if (endMs === null) return undefined;
  let rows = 0;
  let hour = Math.ceil(endMs / HOUR_MS);
  while (hour * HOUR_MS > beginMs) {
    const isKnown = hour > hours.from && hour <= hours.to;
    rows += isKnown ? (requests.get(hour - 1) ?? 0) : Infinity;
    if (rows > LOOKED_AT) return hour * HOUR_MS < endMs ? firstIdAt(hour * HOUR_MS) : undefined;
    hour -= 1;
  }
  return null;
}

/** Length from which `growing` reads the rest as one range. */
const LONGEST_MS = 64 * DAY_MS;

/** Maximum hours of the first range, so that a page that fills quickly reads few. Doubled for each further range. */
const FIRST_HOURS = 48;

/** The piece to search first, and the rest. */
function split({ from, to }: IdSpan, bound: Buffer, order: Direction): readonly [IdSpan, IdSpan] {
  const [low, high] = [
    { from, to: bound },
    { from: bound, to },
  ];
  return order === 'asc' ? [low, high] : [high, low];
}

export function asksForEndUsers({ endUser }: GenerationFilters): boolean {
  return endUser !== undefined && !endUser.includes('');
}

function within(hours: { readonly from: number; readonly to: number }, bounds: IdSpan): IdSpan {
  const [from, to] = [firstIdAt(hours.from * HOUR_MS), firstIdAt(hours.to * HOUR_MS)];
  return {
    from: Buffer.compare(from, bounds.from) > 0 ? from : bounds.from,
    to: Buffer.compare(to, bounds.to) < 0 ? to : bounds.to,
  };
}

/** @param after id after which to continue */
export function boundsOf(
  { fromMs, toMs }: Pick<GenerationFilters, 'fromMs' | 'toMs'>,
  order: Direction = 'asc',
  after?: string,
): IdSpan {
  const from = fromMs === undefined ? Buffer.alloc(0) : firstIdAt(fromMs);
  const to = toMs === undefined ? END_OF_TIMES : firstIdAt(toMs);
  if (after === undefined) return { from, to };
  const place = placeOf(after);
  const next = behind(place);
  if (order === 'asc') return { from: Buffer.compare(next, from) > 0 ? next : from, to };
  return { from, to: Buffer.compare(place, to) < 0 ? place : to };
}

/** @throws GatewayError `invalid_request` for an invalid id */
export function placeOf(after: string): Buffer {
  if (/^[0-9a-f]{32}$/.test(after)) return Buffer.from(after, 'hex');
  throw new GatewayError('invalid_request', 'after: must be the id of a generation', { param: 'after' });
}

function hoursIn({ from, to }: IdSpan): { readonly from: number; readonly to: number } {
  return {
    from: from.length === 0 ? 0 : Math.floor((timeOf(from) ?? 0) / HOUR_MS),
    to: Math.min(NO_HOUR, Math.floor((timeOf(to) ?? Infinity) / HOUR_MS) + 1),
  };
}
