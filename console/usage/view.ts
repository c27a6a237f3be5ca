// Query parameters of the usage page: time range, dimension and order.
import { readRange, type RangeSearch } from '../time/range.ts';

export const PIVOTS = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['project', 'Project'],
  ['provider', 'Provider'],
  ['endpoint', 'Endpoint'],
  ['end_user', 'End user'],
] as const;

export type Pivot = (typeof PIVOTS)[number][0];

interface View extends RangeSearch {
  readonly by?: Pivot;
  readonly order?: string;
}

export function readPivot(search: Readonly<Record<string, unknown>>): View {
  const by = PIVOTS.find(([id]) => id === search['by'])?.[0];
  const order = search['order'];
  return {
    ...readRange(search),
    ...(by && { by }),
    ...(typeof order === 'string' && /^-?[\w]+$/.test(order) && { order }),
  };
}
