// The day that vendors write into the names of their models: the only release date that anybody publishes in a form that
// can be read. Knows no vendor.

/** `-2024-08-06` (OpenAI), `-20250929` (Anthropic), both also before a suffix. */
const DAY = /[-@](20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/;

/**
 * Midnight of that day.
 * @param name the upstream's own name of a model
 * @returns Unix seconds, UTC; undefined for a name without a day
 */
export function dateInName(name: string): number | undefined {
  const [, year = '', month = '', day = ''] = DAY.exec(name) ?? [];
  return year === '' ? undefined : Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000;
}
