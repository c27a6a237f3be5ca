// Published alerts, and current problems.
import { TEXTS } from '../../../canonical/index.ts';
import { z } from 'zod';
import type { ProviderSummary } from '../provider-states.ts';
import { shownTime } from '../../../base/runtime/clock.ts';
import { type KeyView } from '../../../accounts/auth/index.ts';
import { OWNER_KINDS } from '../../../accounts/limits/index.ts';
import { BUDGET_STATES, type BudgetState, budgetStates } from '../budget-refusals.ts';
import { ENDPOINT_STATES, type EndpointState } from '../endpoint-state.ts';
import { limitFacts } from '../explain-request.ts';
import { listOf, PAGE, pageWith, refuseBoth } from '../page.ts';
import { problemsSentence } from '../problems-sentence.ts';
import { problemText } from '../provider-states.ts';
import { type RawCall, route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

const DAY_MS = 86_400_000;
/** Time before its expiry from which a key is reported. */
const SOON_MS = 7 * DAY_MS;
/** Maximum number of budget owners, and of keys, that are checked. */
const MOST_OWNERS = 10_000;
const MOST_KEYS = 1_000;
/** Maximum number of problems of one kind. */
const MOST_PROBLEMS = 50;

const alertSchema = z.object({
  object: z.literal('alert'),
  id: z.string(),
  type: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
  raised_at: z.iso.datetime(),
  state: z.enum(['open', 'resolved']),
  resolved_at: z.iso.datetime().nullable().describe('Null: open, or the time is unknown.'),
});

const problemSchema = z.object({
  kind: z.enum(['provider', 'budget', 'key_expiry', 'ledger']),
  text: z.string(),
  since: z.iso.datetime().nullable(),
  provider: z.string().optional(),
  provider_name: z.string().optional(),
  state: z.enum(ENDPOINT_STATES).optional(),
  status: z.int().nullable().optional(),
  message: z.string().nullable().optional().describe(TEXTS.providersWords),
  rerouted: z.int().optional(),
  failed: z.int().optional(),
  budget_state: z
    .enum(BUDGET_STATES)
    .optional()
    .describe('`budget_too_low`: less than a tenth is left, and it refused a request.'),
  limit: z
    .object({
      text: z.string(),
      owner: z.object({ kind: z.enum(OWNER_KINDS), id: z.string(), name: z.string() }),
      unit: z.string(),
      used: z.number(),
      allowed: z.number(),
      resets_at: z.iso.datetime().nullable(),
    })
    .optional(),
  key: z.object({ id: z.string(), name: z.string(), expires_at: z.iso.datetime() }).optional(),
});
type Problem = z.input<typeof problemSchema>;

export const ALERT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/alerts',
    tag: 'Alerts',
    summary: 'Lists alerts, newest first. They are kept for 400 days.',
    query: z.strictObject({
      ...PAGE,
      type: z.string().optional().describe('Only alerts of this type.'),
      state: z.enum(['open', 'resolved']).optional().describe('Only open or only resolved alerts.'),
    }),
    answer: listOf(alertSchema),
    run: async ({ deps, query: { state, ...query } }) => {
      refuseBoth(query);
      const isOpen = state === undefined ? undefined : state === 'open';
      const { alerts, hasMore } = await deps.alerts.list({ ...query, isOpen });
      const shown = alerts.map(({ id, type, message, data, raisedAt, ...alert }) => ({
        object: 'alert' as const,
        id,
        type,
        message,
        data: { ...data },
        raised_at: new Date(raisedAt).toISOString(),
        state: alert.isOpen ? ('open' as const) : ('resolved' as const),
        resolved_at: isoTime(alert.resolvedAt),
      }));
      return pageWith(shown, ({ id }) => id, hasMore);
    },
  }),
  route({
    method: 'get',
    path: '/problems',
    tag: 'Alerts',
    summary: 'Lists current problems, most severe first, with a summary sentence.',
    answer: z.object({
      object: z.literal('problems'),
      sentence: z.object({
        text: z.string(),
        failing: z.int().describe('Providers.'),
        recovering: z.int(),
        degraded: z.int(),
        rerouted: z.int().describe('Requests of the last 24 hours that another provider served.'),
        failed: z.int(),
        asked: z.int().describe('Providers that were called in the last 24 hours.'),
        budgets: z.int().describe('Used-up budgets.'),
        low_budgets: z.int().describe('Budgets that are too low for a request that they refused.'),
        expiring: z.int().describe('Keys that expire within a week.'),
        since: z.iso.datetime().nullable(),
      }),
      data: z.array(problemSchema),
    }),
    run: async (call) => {
      const all = await call.states.all();
      const wrong = all.filter(({ state }) => WRONG.has(state));
      const providers = wrong.map((standing) => ofProvider(standing, call));
      const count = (of: (standing: ProviderSummary) => number): number =>
        wrong.reduce((sum, standing) => sum + of(standing), 0);
      const inState = (of: EndpointState): number => count(({ state }) => Number(state === of));
      const [spent, ending] = await Promise.all([budgets(call), expiries(call)]);
      const inBudgetState = (of: BudgetState): number =>
        spent.filter(({ budget_state: state }) => state === of).length;
      const facts = {
        failing: inState('failing'),
        recovering: inState('recovering'),
        degraded: inState('degraded'),
        rerouted: count(({ rerouted }) => rerouted),
        failed: count(({ failed }) => failed),
        asked: all.filter(({ day }) => day.counts.attempts > 0).length,
        budgets: inBudgetState('budget_used_up'),
        low_budgets: inBudgetState('budget_too_low'),
        expiring: ending.length,
      };
      const since = providers.flatMap((problem) => problem.since ?? []).toSorted()[0] ?? null;
      return {
        object: 'problems' as const,
        sentence: { ...facts, since, text: problemsSentence(facts) },
        data: [
          ...providers,
          ...ledger(call),
          ...spent.slice(0, MOST_PROBLEMS),
          ...ending.slice(0, MOST_PROBLEMS),
        ],
      };
    },
  }),
];

const WRONG: ReadonlySet<string> = new Set(['failing', 'recovering', 'degraded']);

function ofProvider(
  { id, state, worst, errors, rerouted, failed }: ProviderSummary,
  { deps }: Pick<RawCall, 'deps'>,
): Problem {
  const [error] = errors;
  return {
    kind: 'provider',
    provider: id,
    provider_name: deps.catalog().providers().get(id) ?? id,
    state,
    text: error ? problemText(error) : 'slower than usual',
    since: isoTime(shownTime(deps.clock, worst?.sinceMs ?? null)),
    status: error?.status ?? null,
    message: error?.message ?? null,
    rerouted,
    failed,
  };
}

function ledger({ deps }: Pick<RawCall, 'deps'>): readonly Problem[] {
  const { isStuck, isFull } = deps.ledger.backlog();
  if (!isStuck && !isFull) return [];
  const text = isFull
    ? 'The journal is full. Records may be lost.'
    : 'Records cannot be written to the database. They are queued in the journal.';
  return [{ kind: 'ledger', text, since: null }];
}

const BUDGET_WORDS: Readonly<Record<BudgetState, string>> = {
  budget_used_up: 'is used up',
  budget_too_low: 'is too low for a request that it refused',
};

/** Budgets that refuse requests, used-up ones first. */
async function budgets(call: Pick<RawCall, 'deps' | 'now' | 'timeZone'>): Promise<readonly Problem[]> {
  const { limits } = call.deps;
  const written = limits.writtenFor().filter(({ owner }) => owner.kind !== 'provider');
  const standings = limits.limitUsages(written.slice(0, MOST_OWNERS));
  const stateOf = await budgetStates(standings, call);
  return BUDGET_STATES.flatMap((state) =>
    standings
      .filter((standing) => stateOf(standing) === state)
      .map((standing): Problem => {
        const limit = limitFacts(standing);
        const { kind, name } = limit.owner;
        const whose = kind === 'gateway' ? 'the gateway' : `${kind} "${name}"`;
        const text = `The budget "${limit.text}" of ${whose} ${BUDGET_WORDS[state]}`;
        return { kind: 'budget', budget_state: state, text, since: null, limit };
      }),
  );
}

/** Keys that expire within a week. Those made for less than that, such as the console's, expire as planned. */
async function expiries({ keys, now }: Pick<RawCall, 'keys' | 'now'>): Promise<readonly Problem[]> {
  const stored = await keys.list({ limit: MOST_KEYS, order: 'desc', projectId: undefined, isRevoked: false });
  const soon = ({ createdAt, expiresAt }: KeyView): boolean =>
    expiresAt !== null &&
    expiresAt > now &&
    expiresAt <= now + SOON_MS &&
    (createdAt === null || expiresAt - createdAt > SOON_MS);
  return [...keys.configured(), ...stored.entries].filter(soon).map(({ id, name, expiresAt }): Problem => ({
    kind: 'key_expiry',
    text: `The key "${name}" expires soon`,
    since: null,
    key: { id, name, expires_at: new Date(expiresAt ?? 0).toISOString() },
  }));
}
