// Keys as shown to operators: spend of this month, last use, the tightest budget, and state.
import { z } from 'zod';
import type { KeyView } from '../../accounts/auth/index.ts';
import type { Owner, LimitUsage } from '../../accounts/limits/index.ts';
import { intervalAt, knownUsd, type UsageCounts } from '../../accounts/usage/index.ts';
import { BUDGET_STATES, budgetStates, type BudgetState } from './budget-refusals.ts';
import { limitFacts } from './explain-request.ts';
import type { RawCall } from './route.ts';
import { isoTime } from './time.ts';
import type { UnixMs } from '../../base/units.ts';

/** In order of importance. */
export const KEY_STATES = [
  'active',
  'expires_soon',
  'budget_used_up',
  'budget_too_low',
  'project_archived',
  'expired',
  'revoked',
] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Sort orders of a list of keys. */
export const KEY_ORDERS = ['created', 'name', 'last_used', 'spent', 'state'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

const DAY_MS = 86_400_000;
const SOON_MS = 7 * DAY_MS;
/** Maximum number of keys that are queried by id. Beyond that, all are read. */
const MOST_NAMED = 200;
/** Maximum number of archived projects to read. */
const MOST_PROJECTS = 1_000;

const time = z.iso.datetime().nullable();

/** Members of a key in lists. */
export const KEY_USE = {
  state: z
    .enum(KEY_STATES)
    .describe(
      '`expires_soon`: within a week; `budget_used_up`: a budget of the key, its project or the gateway; `budget_too_low`: less than a tenth of one is left, and it refused a request.',
    ),
  last_used_at: time.describe(
    'Exact to 5 minutes for other processes and before the last start; exact to the day after two days. Null: never.',
  ),
  spent_usd: z
    .number()
    .nullable()
    .describe('USD of this month, in `server.timezone`. Null: no request has a known price.'),
  spent_unpriced_requests: z.number().describe('Requests of this month without a known price.'),
  requests: z.number().describe('This month.'),
  tightest: z
    .object({
      of: z.enum(['key', 'project']),
      text: z.string(),
      unit: z.string(),
      used: z.number(),
      allowed: z.number(),
      share: z.number().describe('Used share of the budget; 1 is the whole budget.'),
      resets_at: time,
    })
    .nullable()
    .describe('The budget of the key or its project with the largest used share; null: none.'),
};

const useSchema = z.object(KEY_USE);
export type KeyUse = z.input<typeof useSchema>;

/** Current state of a key's budgets. */
export const LIMIT_USAGES = z
  .array(
    z.object({
      of: z.enum(['key', 'project']),
      text: z.string(),
      unit: z.string(),
      used: z.number(),
      allowed: z.number(),
      resets_at: time,
      lasts_until: time.describe(
        'Time when the budget is used up at the current pace; null: after the end of the period, or unknown.',
      ),
    }),
  )
  .describe('Limits and budgets of the key and its project.');

type UseCall = Pick<RawCall, 'deps' | 'projects' | 'now' | 'timeZone'>;

/** Usage of keys, by id. */
export async function keyUses(
  keys: readonly KeyView[],
  { deps, projects, now, timeZone }: UseCall,
): Promise<ReadonlyMap<string, KeyUse>> {
  const ids = keys.map(({ id }) => id);
  const named = ids.length > MOST_NAMED ? undefined : ids;
  if (ids.length === 0) return new Map();
  const month = await deps.usage.query({
    fromMs: intervalAt(now, 'month', timeZone).startMs,
    toMs: now,
    interval: null,
    groupBy: ['key'],
    filters: { key: named },
    wanted: { counts: ['requests', 'nano_usd', 'unpriced'], details: false },
  });
  const spent = new Map(month.rows.map(({ group, sums }) => [group.key, sums.counts]));
  const last = await deps.usage.lastUsed(named);
  const archived = new Set(await archivedProjects(keys, projects));
  const usagesOf = (owners: readonly Owner[]): readonly LimitUsage[] =>
    deps.limits.limitUsages(deps.limits.written(owners));
  const ofGateway = usagesOf([GATEWAY]);
  const ofKeys = keys.map((key) => usagesOf(ownersOf(key)));
  const budgetStateOf = await budgetStates([...ofGateway, ...ofKeys.flat()], { deps, now, timeZone });
  return new Map(
    keys.map((key, at) => {
      const limitUsages = ofKeys[at] ?? [];
      const used = Math.max(last.get(key.id) ?? 0, deps.lastUsed(key.id) ?? 0);
      const use: KeyUse = {
        state: stateOf(key, archived, new Set([...ofGateway, ...limitUsages].map(budgetStateOf)), now),
        last_used_at: isoTime(used === 0 ? null : used),
        ...spentView(spent.get(key.id)),
        tightest: tightestOf(limitUsages),
      };
      return [key.id, use];
    }),
  );
}

/** Current limits of a key and its project, with the expected duration of each budget. */
export function keyLimitUsages(key: KeyView, { deps, now }: UseCall): z.input<typeof LIMIT_USAGES> {
  return deps.limits.limitUsages(deps.limits.written(ownersOf(key))).map((standing) => {
    const { owner, resets_at: resetsAt, ...facts } = limitFacts(standing);
    return {
      of: owner.kind === 'project' ? ('project' as const) : ('key' as const),
      ...facts,
      resets_at: resetsAt,
      lasts_until: isoTime(lastsUntil(standing, deps, now)),
    };
  });
}

/** Sorts keys. Keys without a value come last. */
export function inKeyOrder(
  keys: readonly KeyView[],
  uses: ReadonlyMap<string, KeyUse>,
  by: KeyOrder,
  order: 'asc' | 'desc',
): readonly KeyView[] {
  const sign = order === 'asc' ? 1 : -1;
  const valueOf = (key: KeyView): number | string | null => {
    const use = uses.get(key.id);
    if (by === 'name') return key.name.toLowerCase();
    if (by === 'created') return key.createdAt;
    if (by === 'last_used') return use?.last_used_at ?? null;
    if (by === 'spent') return use?.spent_usd ?? null;
    return use ? KEY_STATES.indexOf(use.state) : null;
  };
  return keys.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === other) return a.id < b.id ? -1 : 1;
    if (one === null) return 1;
    if (other === null) return -1;
    return (one < other ? -1 : 1) * sign;
  });
}

const GATEWAY: Owner = { kind: 'gateway', id: '', name: '' };

function ownersOf({ id, name, projectId }: KeyView): readonly Owner[] {
  const own: Owner = { kind: 'key', id, name };
  return projectId === null ? [own] : [own, { kind: 'project', id: projectId, name: projectId }];
}

function stateOf(
  { state, projectId, expiresAt }: KeyView,
  archived: ReadonlySet<string>,
  budgets: ReadonlySet<BudgetState | null>,
  now: UnixMs,
): KeyState {
  if (state !== 'active') return state;
  if (projectId !== null && archived.has(projectId)) return 'project_archived';
  const budget = BUDGET_STATES.find((each) => budgets.has(each));
  if (budget !== undefined) return budget;
  return expiresAt !== null && expiresAt <= now + SOON_MS ? 'expires_soon' : 'active';
}

async function archivedProjects(
  keys: readonly KeyView[],
  projects: RawCall['projects'],
): Promise<readonly string[]> {
  if (keys.every(({ projectId }) => projectId === null)) return [];
  const { entries } = await projects.list({ limit: MOST_PROJECTS, order: 'asc', isArchived: true });
  return entries.map(({ id }) => id);
}

function spentView(counts: UsageCounts | undefined) {
  return {
    spent_usd: counts ? knownUsd(counts) : 0,
    spent_unpriced_requests: counts?.unpriced ?? 0,
    requests: counts?.requests ?? 0,
  };
}

function tightestOf(limitUsages: readonly LimitUsage[]): KeyUse['tightest'] {
  const share = ({ used, limit: { rule } }: LimitUsage): number => used / rule.amount;
  const [tightest] = limitUsages
    .filter(({ limit: { rule } }) => rule.kind === 'usd')
    .toSorted((a, b) => share(b) - share(a));
  if (!tightest) return null;
  const { owner, ...facts } = limitFacts(tightest);
  return { of: owner.kind === 'project' ? 'project' : 'key', ...facts, share: share(tightest) };
}

/** Unix milliseconds at which a budget will be used up at the rate of its period so far. */
function lastsUntil(
  { limit: { rule }, used, remaining, clearsAtMs }: LimitUsage,
  { limits, clock }: UseCall['deps'],
  now: UnixMs,
): number | null {
  if (rule.kind !== 'usd' || rule.window.type !== 'calendar' || used <= 0) return null;
  const passed = now - limits.limiter.periodStart(rule.window, clock.now());
  const until = now + (remaining * passed) / used;
  return passed <= 0 || (clearsAtMs !== null && until >= clearsAtMs) ? null : until;
}
