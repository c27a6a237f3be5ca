// Questions of the console to the management API for its lists, histograms and charts: every combination of filter, order
// and time range. Names and values are those of the month that `busy-month.ts` makes.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Time ranges that end now, in milliseconds. */
export const RANGES = { '1 h': HOUR_MS, '24 h': DAY_MS, '7 d': 7 * DAY_MS, '30 d': 30 * DAY_MS } as const;

const ORDERS = {
  newest: '',
  oldest: '&order=asc',
  slowest: '&order_by=duration',
  'first token': '&order_by=first_content',
  dearest: '&order_by=cost',
  cheapest: '&order_by=cost&order=asc',
  'most tokens': '&order_by=tokens',
} as const;
const FILTERS = [
  '',
  'state=ok',
  'state=recovered',
  'state=failed,broken_stream',
  'state=failed&model=openai/o4',
  'model=openai/o4',
  'attempted=deepseek',
  'provider=openai',
  'project=team-7',
  'key=key_2',
  'key=key_140',
  'protocol=gemini',
  'error_kind=quota',
  `end_user=${(77).toString(16).padStart(32, 'e')}`,
  'min_cost_usd=0.003',
  'min_duration_ms=2000',
  'min_attempts=2',
  'text=sonnet',
  'text=nothing-like-this',
  'slow=true',
  'status=418',
] as const;
const FACETS = ['state', 'model', 'attempted', 'key', 'error_kind'] as const;
const DIMENSIONS = ['model', 'key', 'project', 'provider', 'endpoint'] as const;
const COLUMNS = 'requests,failed,refused,cancelled,usd,unpriced_requests,first_content_ms_p95,errors_by_kind';

/** A question for any time range. */
export interface ListQuestion {
  readonly what: string;
  /** Below `/v1/management`. @param from ISO 8601 */
  readonly path: (from: string) => string;
}

export const LIST_QUESTIONS: readonly ListQuestion[] = [
  ...FILTERS.flatMap((filter) => [
    ...Object.entries(ORDERS).map(([order, query]) => ({
      what: `${filter || 'all'}: ${order}`,
      path: (from: string) => `/generations?limit=100&from=${from}&${filter}${query}`,
    })),
    {
      what: `${filter || 'all'}: counts`,
      path: (from: string) => `/generations/counts?from=${from}&${filter}`,
    },
  ]),
  ...FACETS.flatMap((facet) =>
    ['', 'min_cost_usd=0.003', 'key=key_2'].map((filter) => ({
      what: `${filter || 'all'}: counts by ${facet}`,
      path: (from: string) => `/generations/counts?buckets=0&facets=${facet}&from=${from}&${filter}`,
    })),
  ),
  ...DIMENSIONS.flatMap((by) => [
    {
      what: `usage by ${by}`,
      path: (from: string) => `/usage?from=${from}&totals=true&group_by=${by}&columns=${COLUMNS}`,
    },
    {
      what: `spend by day and ${by}`,
      path: (from: string) =>
        `/usage?from=${from}&interval=day&group_by=${by}&largest=6&columns=requests,usd`,
    },
  ]),
  {
    what: 'usage by day, compared',
    path: (from) => `/usage?from=${from}&interval=day&totals=true&compare=true&columns=${COLUMNS}`,
  },
  { what: 'end users of a project', path: (from) => `/usage/end-users?project=team-7&from=${from}` },
];

/** Questions without a time range. */
export const TABLE_PATHS: readonly string[] = [
  '/problems',
  '/providers?limit=100',
  '/keys?limit=100',
  '/keys?limit=100&order_by=spent',
  `/key-names?id=${Array.from({ length: 100 }, (_, number) => `key_${number}`).join()}`,
  '/models?limit=100',
];
