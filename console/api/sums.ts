// Helpers for usage sums that several pages show: values, names of groups, and time series.
import type { Answer } from './client.ts';

export type UsageRow = Answer<'GET /usage'>['data'][number];
export const DIMENSIONS = ['model', 'provider', 'project', 'key'] as const;
export type Dimension = (typeof DIMENSIONS)[number] | 'endpoint';

/** Value of a row. Null: unknown. */
export type Value = (row: UsageRow) => number | null;

/** A numeric member of rows that the schema of the API does not list by name. */
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
export const TOKENS: Value = (row) => (TOKENS_IN(row) ?? 0) + (TOKENS_OUT(row) ?? 0);
export const TOKEN_COLUMNS: readonly string[] = [...INPUT, ...OUTPUT];

/** Id of the group of a row; empty: unknown. */
export function idOf(row: UsageRow, by: Dimension): string {
  return row[by] ?? '';
}

const NO_VALUE_LABELS: Readonly<Record<Dimension, string>> = {
  model: 'No model',
  provider: 'No provider called',
  endpoint: 'No endpoint called',
  project: 'No project',
  key: 'No key',
};

/** Display name of a group. @param keys names of keys by id; a key without a project is its own project */
export function nameOf(id: string, by: Dimension, keys: ReadonlyMap<string, string>): string {
  return id === '' ? NO_VALUE_LABELS[by] : (keys.get(id) ?? id);
}

/**
 * Values per bucket.
 * @param placeOf index of a row's bucket; -1: none
 * @param empty value of a bucket without rows: 0, or null for unknown
 */
export function bucketed(
  rows: readonly UsageRow[],
  length: number,
  placeOf: (start: string | null) => number,
  value: Value,
  empty: 0 | null = 0,
): readonly (number | null)[] {
  const values = Array.from({ length }, (): number | null => empty);
  for (const row of rows) {
    const at = placeOf(row.start);
    const more = value(row);
    if (at >= 0 && more !== null) values[at] = (values[at] ?? 0) + more;
  }
  return values;
}
