// What narrows the list of requests: in the address of the page, so that a view can be shared.
import type { Query } from '../api/client.ts';
import type { GenerationEvent } from '../api/events.ts';

/** Filters that are a text, or several behind commas. */
export const TEXT_FILTERS = [
  'model',
  'provider',
  'project',
  'key',
  'protocol',
  'status',
  'end_user',
] as const;
export const OUTCOMES = ['answered', 'failed', 'cancelled'] as const;
/** Spans of time, in milliseconds back from now. */
export const SPANS = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
  '30d': 30 * 24 * 3_600_000,
} as const;

export type TextFilter = (typeof TEXT_FILTERS)[number];
type Span = keyof typeof SPANS;

export interface Filters extends Partial<Record<TextFilter, string>> {
  readonly outcome?: (typeof OUTCOMES)[number];
  readonly min_cost_usd?: number;
  readonly span?: Span;
}

/** The filters of an address; what is none of them is left out. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const texts = TEXT_FILTERS.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  const outcome = OUTCOMES.find((each) => each === search['outcome']);
  const cost = Number(search['min_cost_usd']);
  const span = Object.keys(SPANS).find((each) => each === search['span']) as Span | undefined;
  return {
    ...(Object.fromEntries(texts) as Partial<Record<TextFilter, string>>),
    ...(outcome && { outcome }),
    ...(cost > 0 && { min_cost_usd: cost }),
    ...(span && { span }),
  };
}

/** Whether a request that has just ended belongs to a list that they narrow. */
export function fits(filters: Filters, row: GenerationEvent): boolean {
  const facts: Readonly<Record<TextFilter, string | null>> = {
    model: row.model,
    provider: row.provider,
    project: row.project_id,
    key: row.key_id,
    protocol: row.protocol,
    status: String(row.status),
    end_user: row.end_user,
  };
  const outcome = row.cancelled ? 'cancelled' : row.error === null ? 'answered' : 'failed';
  return (
    TEXT_FILTERS.every((name) => {
      const wanted = filters[name]?.split(',').map((each) => each.trim());
      return wanted === undefined || wanted.includes(facts[name] ?? '');
    }) &&
    (filters.outcome ?? outcome) === outcome &&
    (row.cost?.usd ?? 0) >= (filters.min_cost_usd ?? 0)
  );
}

/** The query that they mean. @param nowMs rounded, so that the same question has the same name for a while */
export function queryOf({ span, ...filters }: Filters, nowMs: number): Query<'GET /generations'> {
  const from = span && new Date(Math.floor((nowMs - SPANS[span]) / 60_000) * 60_000).toISOString();
  return { ...filters, ...(from && { from }) };
}
