// Sums in reports, with the same names in JSON, CSV and tables. Money is also given in dollars, latencies as quantiles.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import { usdOf } from '../limits/index.ts';
import { latencyAt, type LatencyCounts } from './latency-buckets.ts';
import {
  USAGE_COUNTS,
  type UsageCount,
  type UsageCounts,
  type UsageSums,
  type WantedSums,
} from './usage-sums.ts';

const QUANTILES = [0.5, 0.95, 0.99] as const;

/** A value in reports, and the sums from which it is computed. */
interface Column {
  readonly name: string;
  readonly from: readonly (UsageCount | 'details')[];
  readonly of: (sums: UsageSums) => JsonValue;
}

const NUMBERS: readonly Column[] = [
  ...USAGE_COUNTS.map((name): Column => ({
    name: shownName(name),
    from: [name],
    of: ({ counts }) => counts[name],
  })),
  { name: 'usd', from: ['nano_usd', 'unpriced'], of: ({ counts }) => knownUsd(counts) },
  {
    name: 'cache_saved_usd',
    from: ['cache_saved_nano_usd'],
    of: ({ counts }) => usdOf(counts.cache_saved_nano_usd),
  },
  ...quantiles('duration_ms', ({ details }) => details.durations),
  ...quantiles('first_content_ms', ({ details }) => details.firstContents),
];

const COLUMNS: readonly Column[] = [
  ...NUMBERS,
  { name: 'errors_by_kind', from: ['details'], of: ({ details }) => Object.fromEntries(details.errorKinds) },
  { name: 'tools', from: ['details'], of: ({ details }) => Object.fromEntries(details.tools) },
];
const BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((column) => [column.name, column]));

/** Name of a count in reports. */
function shownName(name: UsageCount): string {
  return name === 'unpriced' ? 'unpriced_requests' : name;
}

/** Known cost in USD. Null: all requests are unpriced. */
export function knownUsd({ nano_usd: nanoUsd, unpriced }: Pick<UsageCounts, 'nano_usd' | 'unpriced'>) {
  return nanoUsd === 0 && unpriced > 0 ? null : usdOf(nanoUsd);
}

/** Counts by which rows are sorted, after their time. */
const ORDERED_BY: readonly UsageCount[] = ['nano_usd', 'requests'];

/** Names of all values of a row. */
export const USAGE_ENTRIES: readonly string[] = COLUMNS.map(({ name }) => name);

/** Columns of a table: values that are numbers. */
export const USAGE_COLUMNS: readonly string[] = NUMBERS.map(({ name }) => name);

/**
 * One row of a report, without its dimensions.
 * @param names some of `USAGE_ENTRIES`; default: all
 */
export function usageEntry(sums: UsageSums, names: readonly string[] = USAGE_ENTRIES): JsonObject {
  const entry: Record<string, JsonValue> = {};
  for (const name of names) {
    const column = BY_NAME.get(name);
    if (column) entry[name] = column.of(sums);
  }
  return entry;
}

/** Sums that are needed for some columns and for sorting. @param names some of `USAGE_ENTRIES` */
export function sumsOf(names: readonly string[]): WantedSums {
  const from = new Set(names.flatMap((name) => BY_NAME.get(name)?.from ?? []));
  return {
    counts: USAGE_COUNTS.filter((count) => from.has(count) || ORDERED_BY.includes(count)),
    details: from.has('details'),
  };
}

/**
 * Formats rows as CSV (RFC 4180). Texts that a spreadsheet would evaluate as a formula are escaped.
 * @param columns columns in order; missing values are empty
 */
export function usageCsv(columns: readonly string[], rows: readonly JsonObject[]): string {
  const lines = rows.map((row) => columns.map((column) => cell(row[column])));
  return [columns, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function quantiles(name: string, countsOf: (sums: UsageSums) => LatencyCounts): readonly Column[] {
  return QUANTILES.map((share) => ({
    name: `${name}_p${share * 100}`,
    from: ['details'],
    of: (sums) => {
      const ms = latencyAt(share, countsOf(sums));
      // Beyond the last bound the value is unknown.
      return ms === Infinity ? null : ms;
    },
  }));
}
