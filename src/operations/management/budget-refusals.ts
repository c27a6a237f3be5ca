// Finds budgets that refuse requests: those with nothing left, and those whose rest did not suffice for a request.
import type { Owner, LimitUsage } from '../../accounts/limits/index.ts';
import { intervalAt } from '../../accounts/usage/index.ts';
import type { UnixMs } from '../../base/units.ts';
import { TOO_LOW } from '../alerts/index.ts';
import type { RawCall } from './route.ts';

/** `budget_too_low`: little is left, and a request of its period was refused because of it. */
export const BUDGET_STATES = ['budget_used_up', 'budget_too_low'] as const;
export type BudgetState = (typeof BUDGET_STATES)[number];

/** State of a budget; null: it refuses nothing. */
export type BudgetStateOf = (standing: LimitUsage) => BudgetState | null;

type Call = Pick<RawCall, 'deps' | 'now' | 'timeZone'>;

/** Makes the check for some budgets. If any has little left, refusals of its period are queried. */
export async function budgetStates(limitUsages: readonly LimitUsage[], call: Call): Promise<BudgetStateOf> {
  const low = limitUsages.filter((each) => isLow(each) && !isUsedUp(each));
  // Budgets of one period need one query.
  const starts = [...new Set(low.map((each) => startOf(each, call)))];
  const refusedSince = new Map<UnixMs, ReadonlySet<string>>();
  for (const start of starts) refusedSince.set(start, await refusedOwners(start, call));
  return (standing) => {
    if (isUsedUp(standing)) return 'budget_used_up';
    const refused = isLow(standing) ? refusedSince.get(startOf(standing, call)) : undefined;
    return refused?.has(nameOf(standing.limit.owner)) === true ? 'budget_too_low' : null;
  };
}

/** Start of a budget's period or window, or of this month if that is later. */
function startOf({ limit: { rule } }: LimitUsage, { deps, now, timeZone }: Call): UnixMs {
  const start =
    rule.window.type === 'rolling'
      ? now - rule.window.ms
      : deps.limits.limiter.periodStart(rule.window, deps.clock.now());
  return Math.max(start, intervalAt(now, 'month', timeZone).startMs);
}

/** Owners with requests that a budget refused since a time. */
async function refusedOwners(fromMs: UnixMs, { deps, now }: Call): Promise<ReadonlySet<string>> {
  const { rows } = await deps.usage.query({
    fromMs,
    toMs: now,
    interval: null,
    groupBy: ['project', 'key'],
    filters: { outcome: ['refused'] },
    wanted: { counts: ['requests'], details: true },
  });
  const refused = new Set<string>();
  for (const { group, sums } of rows)
    if ((sums.details.errorKinds.get('quota') ?? 0) > 0) {
      refused.add(nameOf({ kind: 'gateway', id: '' }));
      refused.add(nameOf({ kind: 'project', id: group.project ?? '' }));
      refused.add(nameOf({ kind: 'key', id: group.key ?? '' }));
    }
  return refused;
}

function isUsedUp({ limit: { rule }, remaining }: LimitUsage): boolean {
  return rule.kind === 'usd' && remaining <= 0;
}

function isLow({ limit: { rule }, used }: LimitUsage): boolean {
  return rule.kind === 'usd' && used >= TOO_LOW * rule.amount;
}

function nameOf({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
