// Finds budgets that have reached 50, 80 or 100 % of their amount. Only checks tenants of completed requests, so that
// unused keys cost nothing.
import type { Principal } from '../../accounts/auth/index.ts';
import type { GenerationRecord } from '../../accounts/ledger/index.ts';
import { limitId, type Limits, limitText, type LimitUsage, usdOf } from '../../accounts/limits/index.ts';
import type { Alert } from './alert.ts';
import type { UnixMs } from '../../base/units.ts';

/** Percent of a budget. */
const THRESHOLDS = [100, 80, 50] as const;
type Threshold = (typeof THRESHOLDS)[number];
/**
 * Share from which a budget that refused a request is too low: the rest does not suffice for requests, so it is
 * treated like a used-up one.
 */
export const TOO_LOW = 0.9;
/** Maximum number of tenants between two checks. Further ones are checked after their next request. */
const MOST_TENANTS = 10_000;

/** State of a budget in its period. */
interface Crossing {
  readonly limitUsage: LimitUsage;
  readonly percent: Threshold;
  /** Unix milliseconds; 0: none. */
  readonly periodStart: number;
}

export class BudgetWatch {
  readonly #limits: Limits;
  /** Tenants with requests since the last check, and whether one was refused because of its budget. */
  readonly #tenants = new Map<Principal, boolean>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Notes a completed request of a tenant. */
  note(tenant: Principal, { error }: Pick<GenerationRecord, 'error'>): void {
    const isRefused = error?.kind === 'quota' && error.upstreamStatus === null;
    if (isRefused) this.#tenants.set(tenant, true);
    else if (!this.#tenants.has(tenant) && this.#tenants.size < MOST_TENANTS)
      this.#tenants.set(tenant, false);
  }

  /** Thresholds reached since the last check. @param nowMs Unix milliseconds */
  *look(nowMs: UnixMs): Iterable<Alert> {
    for (const [tenant, isRefused] of this.#tenants) {
      const scopes = this.#limits.scopesOf(tenant);
      for (const limitUsage of this.#limits.limiter.limitUsages(scopes, null, null)) {
        const crossing = this.#crossing(limitUsage, isRefused, nowMs);
        if (crossing) yield alertOf(crossing);
      }
    }
    this.#tenants.clear();
  }

  #crossing(limitUsage: LimitUsage, isRefused: boolean, nowMs: UnixMs): Crossing | null {
    const { limit, used, reserved } = limitUsage;
    const { rule } = limit;
    if (rule.kind !== 'usd') return null;
    const share = (used - reserved) / rule.amount;
    const reached = isRefused && share >= TOO_LOW ? 1 : share;
    const percent = THRESHOLDS.find((each) => reached * 100 >= each);
    if (percent === undefined) return null;
    return { limitUsage, percent, periodStart: this.#limits.limiter.periodStart(rule.window, nowMs) };
  }
}

function alertOf({ limitUsage, percent, periodStart }: Crossing): Alert {
  const { limit, used, reserved } = limitUsage;
  const { owner, rule } = limit;
  const { window, amount } = rule;
  const whose = owner.kind === 'gateway' ? 'the gateway' : `${owner.kind} "${owner.name}"`;
  const spent = usdOf(used - reserved);
  const shownPercent = Math.floor(((used - reserved) / amount) * 100);
  const budget = `the budget "${limitText(rule)}" of ${whose}`;
  return {
    type: 'budget.threshold_reached',
    // The amount is part of the id, so that a raised budget alerts again.
    id: `budget ${limitId(limit)} ${amount} ${periodStart} ${percent}`,
    quietMs: window.type === 'rolling' ? window.ms : Infinity,
    isNoted: true,
    message:
      shownPercent < percent
        ? `${budget} is too low: ${shownPercent} % is spent, and the rest was not enough for a request`
        : `${percent} % of ${budget} is spent`,
    data: {
      threshold_percent: percent,
      owner: { type: owner.kind, id: owner.id, name: owner.name },
      budget: limitText(rule),
      budget_usd: usdOf(amount),
      spent_usd: spent,
      period_start: periodStart === 0 ? null : new Date(periodStart).toISOString(),
    },
  };
}
