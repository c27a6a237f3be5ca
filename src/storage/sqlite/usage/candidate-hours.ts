// Which hours may hold what somebody looks for among the records: the sums say of each hour who was there. So a search for
// something rare reads a few hours of a year, and the records need no index for it.
import type { GenerationFilters } from '../../ports.ts';
import type { SqliteNames } from '../names.ts';
import { nanoUsdOf } from '../../../limits/index.ts';
import type { Backfill } from './backfill.ts';
import type { EndUserReader } from './end-user-reader.ts';
import { DAY_HOURS, HOUR_MS, type HourSpan } from '../../usage/hours.ts';
import { numberFilters, type PassingPeriod, type UsageReader } from './usage-reader.ts';

/** Days that are looked at together. */
const DAYS = 32;

export class CandidateHours {
  readonly #reader: UsageReader;
  readonly #endUsers: EndUserReader;
  readonly #backfill: Backfill;
  readonly #names: SqliteNames;

  constructor(reader: UsageReader, endUsers: EndUserReader, backfill: Backfill, names: SqliteNames) {
    this.#reader = reader;
    this.#endUsers = endUsers;
    this.#backfill = backfill;
    this.#names = names;
  }

  /**
   * Hours of a span that may hold something, in order and each at most once; those of which nothing is known are given too.
   * @param order `desc`: the last one first
   */
  async *read(
    span: HourSpan,
    filters: GenerationFilters,
    order: 'asc' | 'desc',
  ): AsyncGenerator<PassingPeriod> {
    const known = this.#reader.hours();
    if (!known) return yield span;
    const isKnown = (hour: number): boolean =>
      hour >= known.from && this.#backfill.reachesBackTo(hour * HOUR_MS);
    // Whatever is not known is one piece: the oldest. Behind what is known there is nothing.
    const edge = firstWhere(isKnown, span.from, Math.min(span.to, known.to));
    const unknown = edge > span.from ? [{ from: span.from, to: edge }] : [];
    if (order === 'asc') yield* unknown;
    for (const part of inParts({ from: edge, to: Math.min(span.to, known.to) }, order)) {
      // Requests that named nobody are in no sum of end users.
      if (filters.endUser && !filters.endUser.includes(''))
        yield* inOrder(await this.#ofEndUsers(part, filters.endUser, filters), order);
      else yield* this.#ofAll(part, filters, order);
    }
    if (order === 'desc') yield* unknown;
  }

  /** Periods with something that passes, the first one first. */
  #found(span: HourSpan, filters: GenerationFilters, byHour: boolean): Promise<readonly PassingPeriod[]> {
    const { outcome, minCostUsd } = filters;
    const hasAnswered = !outcome || outcome.includes('answered');
    return this.#reader.periods(
      span,
      numberFilters(filters, this.#names),
      {
        failed: !hasAnswered && outcome.includes('failed'),
        cancelled: !hasAnswered && outcome.includes('cancelled'),
        nanoUsd: minCostUsd === undefined ? 0 : Math.floor(nanoUsdOf(minCostUsd)),
      },
      byHour,
    );
  }

  async *#ofAll(
    part: HourSpan,
    filters: GenerationFilters,
    order: 'asc' | 'desc',
  ): AsyncGenerator<PassingPeriod> {
    for (const day of inOrder(await this.#found(part, filters, false), order)) {
      const within = { ...day, from: Math.max(day.from, part.from), to: Math.min(day.to, part.to) };
      yield* day.to - day.from === 1 ? [within] : inOrder(await this.#found(within, filters, true), order);
    }
  }

  /** Hours in which one of some end users was there, or for whom there was no room, the first one first. */
  async #ofEndUsers(
    part: HourSpan,
    endUsers: readonly string[],
    filters: GenerationFilters,
  ): Promise<readonly PassingPeriod[]> {
    const places = await this.#endUsers.places(part, endUsers);
    const hours = [...places.keys()].toSorted((a, b) => a - b);
    const theirs = (hour: HourSpan, allowed?: readonly number[]): PassingPeriod[] => {
      const keys = [...(places.get(hour.from) ?? [])].filter((key) => allowed?.includes(key) ?? true);
      return keys.length > 0 ? [{ from: hour.from, to: hour.to, keys }] : [];
    };
    if (!asksForMore(filters)) return hours.flatMap((hour) => theirs({ from: hour, to: hour + 1 }));
    const found: PassingPeriod[] = [];
    for (const span of together(hours))
      for (const hour of await this.#found(span, filters, true)) found.push(...theirs(hour, hour.keys));
    return found;
  }
}

/** Whether the sums of an hour can tell more than who was there. */
function asksForMore({
  fromMs: _from,
  toMs: _to,
  status: _status,
  endUser: _endUser,
  ...rest
}: GenerationFilters): boolean {
  return Object.values(rest).some((filter) => filter !== undefined);
}

/** Hours that follow one another, as spans. @param hours the first one first */
function together(hours: readonly number[]): readonly HourSpan[] {
  const spans: { from: number; to: number }[] = [];
  for (const hour of hours) {
    const last = spans.at(-1);
    if (last?.to === hour) last.to = hour + 1;
    else spans.push({ from: hour, to: hour + 1 });
  }
  return spans;
}

function inOrder<T>(list: readonly T[], order: 'asc' | 'desc'): readonly T[] {
  return order === 'asc' ? list : list.toReversed();
}

function inParts({ from, to }: HourSpan, order: 'asc' | 'desc'): readonly HourSpan[] {
  const parts: HourSpan[] = [];
  const length = DAYS * DAY_HOURS;
  for (let start = from; start < to; start += length)
    parts.push({ from: start, to: Math.min(start + length, to) });
  return order === 'asc' ? parts : parts.toReversed();
}

/** The first number for which something holds that holds for all behind it; `to` where it holds for none. */
function firstWhere(holds: (at: number) => boolean, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
