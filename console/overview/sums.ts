// Rows of usage as series over time and as totals.
import type { Answer } from '../api/client.ts';
import { MOST_SERIES, type Series } from '../ui/chart.tsx';
import { type Dimension } from './range.ts';

export type UsageRow = Answer<'GET /usage'>['data'][number];

/** What rows count, by name; unknown is null. */
export type Value = (row: UsageRow) => number | null;

/** A number that rows have under a name which their description lists only in words. */
export function field(name: string): Value {
  return (row) => {
    const value = (row as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'number' ? value : null;
  };
}

const INPUT = [
  'input_uncached',
  'input_cache_read',
  'input_cache_write_5m',
  'input_cache_write_1h',
  'input_audio',
  'input_image',
];
const OUTPUT = ['output_text', 'output_reasoning', 'output_audio'];

export const TOKENS_IN: Value = (row) => INPUT.reduce((sum, name) => sum + (field(name)(row) ?? 0), 0);
export const TOKENS_OUT: Value = (row) => OUTPUT.reduce((sum, name) => sum + (field(name)(row) ?? 0), 0);

/** All that the overview shows of a row: what is not asked for makes the answer quicker. */
export const COLUMNS = [
  'requests',
  'errors',
  'usd',
  'cache_saved_usd',
  'first_content_ms_p50',
  'first_content_ms_p95',
  ...INPUT,
  ...OUTPUT,
].join();

/** What a row is about; empty: nobody answered, or nobody is known. */
export function idOf(row: UsageRow, by: Dimension): string {
  return row[by] ?? '';
}

/** What people call it. @param keys names of keys by id: a key without a project is a project of its own */
export function nameOf(id: string, by: Dimension, keys: ReadonlyMap<string, string>): string {
  if (id === '') return by === 'model' || by === 'provider' ? '(unanswered)' : '(nobody)';
  return keys.get(id) ?? id;
}

/** Ids by what they count for most, the most first: as many as a chart has colours. */
export function largest(rows: readonly UsageRow[], by: Dimension, value: Value): readonly string[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(idOf(row, by), (sums.get(idOf(row, by)) ?? 0) + (value(row) ?? 0));
  return [...sums]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_SERIES)
    .map(([id]) => id);
}

/** Every interval of the span, in Unix seconds, also those in which nothing happened. */
export function timesOf(from: string, to: string, interval: 'hour' | 'day'): readonly number[] {
  const step = interval === 'hour' ? 3_600 : 86_400;
  const first = Math.floor(Date.parse(from) / 1_000 / step) * step;
  const last = Math.max(first, Math.ceil(Date.parse(to) / 1_000 / step) * step - step);
  return Array.from({ length: Math.round((last - first) / step) + 1 }, (_, at) => first + at * step);
}

interface SeriesOptions {
  readonly rows: readonly UsageRow[];
  readonly times: readonly number[];
  readonly by: Dimension;
  readonly ids: readonly string[];
  readonly value: Value;
  /** What an interval without requests has: nothing, or nobody knows. */
  readonly empty: 0 | null;
}

/** One for each id, in their order. */
export function seriesOf({ rows, times, by, ids, value, empty }: SeriesOptions): readonly Series[] {
  const places = new Map(times.map((time, at) => [time, at]));
  const series = new Map(ids.map((id) => [id, times.map((): number | null => empty)]));
  for (const row of rows) {
    const at = places.get(Date.parse(row.start ?? '') / 1_000);
    const values = series.get(idOf(row, by));
    if (at !== undefined && values) values[at] = value(row);
  }
  return [...series.values()];
}
