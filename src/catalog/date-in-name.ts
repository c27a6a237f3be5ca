// Dates in model names: the only release dates that are published in a machine-readable form.

/** `-2024-08-06` (OpenAI) or `-20250929` (Anthropic), also before a suffix. */
const DAY = /[-@](20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/;

/** Midnight of the date. @param name the upstream's model name @returns Unix seconds, UTC; undefined: no date */
export function dateInName(name: string): number | undefined {
  const [, year = '', month = '', day = ''] = DAY.exec(name) ?? [];
  return year === '' ? undefined : Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000;
}
