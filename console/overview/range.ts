// The span of time that the overview looks at, and by what it is divided: both in its address.

export const RANGES = {
  '24h': { label: '24 hours', ms: 24 * 3_600_000, interval: 'hour' },
  '7d': { label: '7 days', ms: 7 * 24 * 3_600_000, interval: 'hour' },
  '30d': { label: '30 days', ms: 30 * 24 * 3_600_000, interval: 'day' },
  '90d': { label: '90 days', ms: 90 * 24 * 3_600_000, interval: 'day' },
} as const;

export const DIMENSIONS = ['model', 'provider', 'project', 'key'] as const;

export type Range = keyof typeof RANGES;
export type Dimension = (typeof DIMENSIONS)[number];

export interface View {
  readonly range?: Range;
  readonly by?: Dimension;
}

/** What an address says; what is as usual is left out. */
export function readView(search: Readonly<Record<string, unknown>>): View {
  const range = (Object.keys(RANGES) as Range[]).find((each) => each === search['range']);
  const by = DIMENSIONS.find((each) => each === search['by']);
  return { ...(range && { range }), ...(by && { by }) };
}

/** From when on, to the hour: sums are of whole ones. @param nowMs Unix milliseconds */
export function fromOf(range: Range, nowMs: number): string {
  return new Date(Math.floor((nowMs - RANGES[range].ms) / 3_600_000) * 3_600_000).toISOString();
}
