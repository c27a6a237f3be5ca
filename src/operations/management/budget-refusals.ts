// Finds used-up budgets: those with nothing left, and those with little left that refused a request.
import type { Owner, LimitUsage } from '../../accounts/limits/index.ts';
import { intervalAt } from '../../accounts/usage/index.ts';
import type { RawCall } from './route.ts';

/**
 * Share from which a budget that refused a request counts as used up, because the rest does not suffice for requests.
 */
const NEARLY = 0.9;

/** True if a budget is used up. */
export type IsUsedUp = (standing: LimitUsage) => boolean;

/** Makes the check for some budgets. If any has little left, this month's refusals are queried. */
export async function budgetsUsedUp(
  limitUsages: readonly LimitUsage[],
  { deps, now, timeZone }: Pick<RawCall, 'deps' | 'now' | 'timeZone'>,
): Promise<IsUsedUp> {
  if (!limitUsages.some((each) => isNearly(each) && each.remaining > 0)) return isEmpty;
  const { rows } = await deps.usage.query({
    fromMs: intervalAt(now, 'month', timeZone).startMs,
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
  return (standing) => isEmpty(standing) || (isNearly(standing) && refused.has(nameOf(standing.limit.owner)));
}

function isEmpty({ limit: { rule }, remaining }: LimitUsage): boolean {
  return rule.kind === 'usd' && remaining <= 0;
}

function isNearly({ limit: { rule }, used }: LimitUsage): boolean {
  return rule.kind === 'usd' && used >= NEARLY * rule.amount;
}

function nameOf({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
