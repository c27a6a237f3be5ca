// Filters and order of the list of requests. They are part of the address, so that a view can be shared.
import type { Query } from '../api/client.ts';
import type { GenerationEvent } from '../api/events.ts';
import { readRange, type RangeSearch } from '../time/range.ts';

/** Filters with one or more values, separated by commas. */
export const CHOICES = {
  state: 'Status',
  model: 'Model',
  attempted: 'Provider tried',
  key: 'Key',
  project: 'Project',
  protocol: 'Protocol',
  error_kind: 'Kind of failure',
  end_user: 'End user',
  provider: 'Served by',
  requested_model: 'Model asked',
  endpoint: 'Endpoint',
  status: 'HTTP status',
} as const;
/** Filters with a minimum value. */
export const LEASTS = {
  min_duration_ms: { label: 'Duration', unit: 'ms' },
  min_cost_usd: { label: 'Cost', unit: 'USD' },
  min_attempts: { label: 'Attempts', unit: '' },
} as const;
/** Filters in the menu. The others are set only by links. */
export const OFFERED: readonly FilterName[] = [
  'state',
  'model',
  'attempted',
  'key',
  'project',
  'protocol',
  'error_kind',
  'min_duration_ms',
  'min_cost_usd',
  'min_attempts',
  'end_user',
];

export type ChoiceName = keyof typeof CHOICES;
export type LeastName = keyof typeof LEASTS;
export type FilterName = ChoiceName | LeastName;

const ORDERS = ['time', 'duration', 'first_content', 'cost', 'tokens'] as const;
type OrderBy = (typeof ORDERS)[number];
export const USUAL_ORDER = '-time';

export interface Filters
  extends RangeSearch, Partial<Record<ChoiceName, string>>, Partial<Record<LeastName, number>> {
  /** Part of a model or key name, or the prefix of an id. */
  readonly text?: string;
  readonly slow?: true;
  /** A column; a leading minus means descending. */
  readonly order?: string;
  /** Id of the request that is open in the panel. */
  readonly open?: string;
  /** Tab of that request. */
  readonly view?: string;
}

const choices = Object.keys(CHOICES) as ChoiceName[];
const leasts = Object.keys(LEASTS) as LeastName[];

/** Parses query parameters. Unknown ones are dropped. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const texts = [...choices, 'text' as const, 'open' as const, 'view' as const].flatMap((name) => {
    const value = search[name];
    return (typeof value === 'string' && value !== '') || typeof value === 'number'
      ? [[name, String(value)]]
      : [];
  });
  const numbers = leasts.flatMap((name) => (Number(search[name]) > 0 ? [[name, Number(search[name])]] : []));
  const order = typeof search['order'] === 'string' ? search['order'] : USUAL_ORDER;
  const isKnown = ORDERS.some((each) => each === order.replace('-', ''));
  return {
    ...readRange(search),
    ...(Object.fromEntries([...texts, ...numbers]) as Partial<Filters>),
    ...(String(search['slow']) === 'true' && { slow: true as const }),
    ...(isKnown && order !== USUAL_ORDER && { order }),
  };
}

/** Filters that are set. */
export function narrowing(filters: Filters): readonly FilterName[] {
  return [...choices, ...leasts].filter((name) => filters[name] !== undefined);
}

type Narrowing = Omit<Query<'GET /generations'>, 'limit' | 'after' | 'before' | 'order' | 'order_by'>;

/** Query parameters for the filters, without the time range. */
export function queryOf({
  range: _,
  from: __,
  to: ___,
  order: ____,
  open: _____,
  view: ______,
  slow,
  ...rest
}: Filters): Narrowing {
  return { ...rest, ...(slow && { slow: 'true' as const }) };
}

export function orderOf({
  order = USUAL_ORDER,
}: Filters): Pick<Query<'GET /generations'>, 'order_by' | 'order'> {
  const by = order.replace('-', '') as OrderBy;
  return { order_by: by, order: order.startsWith('-') ? 'desc' : 'asc' };
}

/** True if a request that has just ended matches the filters; null: only the gateway can decide. */
export function fits(filters: Filters, row: GenerationEvent): boolean | null {
  if (filters.slow !== undefined || filters.to !== undefined) return null;
  const facts: Readonly<Record<ChoiceName, readonly (string | null)[]>> = {
    state: [row.state],
    model: [row.model],
    attempted: row.attempted,
    key: [row.key_id],
    project: [row.project_id],
    protocol: [row.protocol],
    error_kind: [row.error?.kind ?? null],
    end_user: [row.end_user],
    provider: [row.provider],
    requested_model: [row.requested_model],
    endpoint: [row.endpoint],
    status: [String(row.status)],
  };
  const numbers: Readonly<Record<LeastName, number>> = {
    min_duration_ms: row.duration_ms ?? 0,
    min_cost_usd: row.cost_usd ?? 0,
    min_attempts: row.attempts,
  };
  const text = filters.text?.toLowerCase() ?? '';
  const names = [row.model, row.requested_model, row.key_name, row.key_id, row.id];
  return (
    choices.every((name) => {
      const wanted = filters[name]?.split(',').map((each) => each.trim());
      return wanted === undefined || facts[name].some((value) => wanted.includes(value ?? ''));
    }) &&
    leasts.every((name) => numbers[name] >= (filters[name] ?? 0)) &&
    names.some((name) => name?.toLowerCase().includes(text))
  );
}

interface SavedView {
  readonly name: string;
  readonly filters: Filters;
}

/** Predefined views. */
export const VIEWS: readonly SavedView[] = [
  { name: 'All', filters: {} },
  { name: 'Failed', filters: { state: 'failed,broken_stream' } },
  { name: 'Slow', filters: { slow: true, order: '-duration' } },
  { name: 'Expensive', filters: { order: '-cost' } },
  { name: 'Recovered', filters: { state: 'recovered' } },
];
