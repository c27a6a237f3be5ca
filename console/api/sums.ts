// Sums of usage, as several pages show them: values of a row, names of groups, and rows as series over time.
import type { Answer } from './client.ts';

export type UsageRow = Answer<'GET /usage'>['data'][number];
export const DIMENSIONS = ['model', 'provider', 'project', 'key'] as const;
export type Dimension = (typeof DIMENSIONS)[number] | 'endpoint';

/** Count of a row by name. Null: unknown. */
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
export const TOKENS: Value = (row) => (TOKENS_IN(row) ?? 0) + (TOKENS_OUT(row) ?? 0);
export const TOKEN_COLUMNS: readonly string[] = [...INPUT, ...OUTPUT];

/** Subject of a row; empty: unknown. */
export function idOf(row: UsageRow, by: Dimension): string {
  return row[by] ?? '';
}

const NOBODY: Readonly<Record<Dimension, string>> = {
  model: 'No model',
  provider: 'No provider asked',
  endpoint: 'No endpoint asked',
  project: 'No project',
  key: 'No key',
};

/** Name of a subject for people. @param keys names of keys by id: a key without a project is a project of its own */
export function nameOf(id: string, by: Dimension, keys: ReadonlyMap<string, string>): string {
  return id === '' ? NOBODY[by] : (keys.get(id) ?? id);
}

/**
 * Values of each bucket.
 * @param placeOf which bucket a row belongs to; -1: none
 * @param empty what a bucket without rows has: nothing, or nobody knows
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
