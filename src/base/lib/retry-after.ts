// Reads from response headers how long to wait before a retry.
import type { DurationMs } from '../units.ts';

/**
 * Milliseconds from `retry-after-ms` (OpenAI's), or from `retry-after` in seconds or as an HTTP date (RFC 9110,
 * 10.2.3). A date counts from the answer's `date`.
 * @param header reads a response header by lower-case name
 * @returns undefined if neither header is usable
 */
export function retryAfterMs(header: (name: string) => string | null): DurationMs | undefined {
  const exact = nonNegative(header('retry-after-ms'));
  if (exact !== undefined) return exact;
  const after = header('retry-after');
  if (after === null) return undefined;
  const seconds = nonNegative(after);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const wait = Date.parse(after) - Date.parse(header('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function nonNegative(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
