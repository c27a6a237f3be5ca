// Converts limits of a key or project to form values and back.
import type { Answer } from '../api/client.ts';

type Owner = Pick<Answer<'GET /keys'>['data'][number], 'limits' | 'budgets'>;
type Budget = Owner['budgets'][number];
type Limit = Owner['limits'][number];

export interface Allowance {
  /** Amount of the budget; empty: none. */
  readonly usd: string;
  /** One of `PERIODS`. */
  readonly per: string;
  /** `allow`: models without a price may be used. */
  readonly unpriced: 'refuse' | 'allow';
  /** Requests per minute; empty: no limit. */
  readonly requests: string;
  /** Limits and budgets without a form field, which are sent back unchanged. */
  readonly rest: Owner;
}

/** Budget periods that the form offers. The empty one never resets. */
export const PERIODS = [
  ['hour', 'per hour'],
  ['day', 'per day'],
  ['week', 'per week'],
  ['month', 'per month'],
  ['', 'in total'],
] as const;

/** True if the form can show the budget: an amount in USD with one of these periods, and nothing else. */
function isPlainBudget(budget: Budget): boolean {
  return (
    PERIODS.some(([per]) => per === (budget.per ?? '')) &&
    Object.entries(budget).every(
      ([name, value]) => ['usd', 'per', 'unpriced'].includes(name) || value == null,
    )
  );
}

function isPlainLimit(limit: Limit): boolean {
  return (
    limit.requests !== undefined &&
    limit.per === 'minute' &&
    Object.entries(limit).every(([name, value]) => ['requests', 'per'].includes(name) || value == null)
  );
}

/** @param owner null: defaults of a new key or project */
export function allowanceOf(owner: Owner | null): Allowance {
  const budget = owner?.budgets.find(isPlainBudget);
  const limit = owner?.limits.find(isPlainLimit);
  return {
    usd: budget ? String(budget.usd) : '',
    per: budget ? (budget.per ?? '') : 'month',
    unpriced: budget?.unpriced ?? 'refuse',
    requests: limit ? String(limit.requests) : '',
    rest: {
      budgets: owner?.budgets.filter((each) => each !== budget) ?? [],
      limits: owner?.limits.filter((each) => each !== limit) ?? [],
    },
  };
}

/** Members of the request that sets these limits. */
export function ownerOf({ usd, per, unpriced, requests, rest }: Allowance): Owner {
  return {
    budgets: [
      ...(usd === ''
        ? []
        : [{ usd: Number(usd), ...(per !== '' && { per }), ...(unpriced === 'allow' && { unpriced }) }]),
      ...rest.budgets,
    ],
    limits: [...(requests === '' ? [] : [{ requests: Number(requests), per: 'minute' }]), ...rest.limits],
  };
}
