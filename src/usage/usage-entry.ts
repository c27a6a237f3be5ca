// Sums as reports show them: the same names in JSON, CSV and tables, money in dollars besides, and latencies as quantiles.
import type { JsonObject } from '../canonical/index.ts';
import { usdOf } from '../limits/index.ts';
import { latencyAt, type LatencyCounts } from './latency-buckets.ts';
import { USAGE_COUNTS, type UsageSums } from './usage-sums.ts';

const QUANTILES = [0.5, 0.95, 0.99] as const;

/** One row of a report, without what it was grouped by. */
export function usageEntry({ counts, details }: UsageSums): JsonObject {
  return {
    ...counts,
    usd: usdOf(counts.nano_usd),
    cache_saved_usd: usdOf(counts.cache_saved_nano_usd),
    ...quantiles('duration_ms', details.durations),
    ...quantiles('first_content_ms', details.firstContents),
    errors_by_kind: Object.fromEntries(details.errorKinds),
    tools: Object.fromEntries(details.tools),
  };
}

/** Columns of a table of such rows: what is one number. */
export const USAGE_COLUMNS: readonly string[] = [
  ...USAGE_COUNTS,
  'usd',
  'cache_saved_usd',
  ...['duration_ms', 'first_content_ms'].flatMap((name) =>
    QUANTILES.map((share) => quantileName(name, share)),
  ),
];

/**
 * Rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula is set apart.
 * @param columns in their order; what a row has not is empty
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

function quantiles(name: string, counts: LatencyCounts): JsonObject {
  return Object.fromEntries(
    QUANTILES.map((share) => {
      const ms = latencyAt(share, counts);
      // Longer than the last border is not known more exactly.
      return [quantileName(name, share), ms === Infinity ? null : ms];
    }),
  );
}

function quantileName(name: string, share: number): string {
  return `${name}_p${share * 100}`;
}
