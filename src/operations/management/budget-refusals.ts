// Which budgets are used up: those without anything left, and those that have little left and refused a request for want of it.
import type { Owner, Standing } from '../../accounts/limits/index.ts';
import { intervalAt } from '../../accounts/usage/index.ts';
import type { RawCall } from './route.ts';

/** From here on a budget that had no room for a request counts as used up: what is left is less than requests cost. */
const NEARLY = 0.9;

/** Says of a budget whether it is used up. */
export type IsUsedUp = (standing: Standing) => boolean;

/** Judges these budgets. Asks who was refused for want of money this month, where some have little left. */
export async function budgetsUsedUp(
  standings: readonly Standing[],
  { deps, now, timeZone }: Pick<RawCall, 'deps' | 'now' | 'timeZone'>,
): Promise<IsUsedUp> {
  if (!standings.some((each) => isNearly(each) && each.remaining > 0)) return isEmpty;
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

function isEmpty({ limit: { rule }, remaining }: Standing): boolean {
  return rule.kind === 'usd' && remaining <= 0;
}

function isNearly({ limit: { rule }, used }: Standing): boolean {
  return rule.kind === 'usd' && used >= NEARLY * rule.amount;
}

function nameOf({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
