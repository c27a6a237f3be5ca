// Resolves alerts: detects that their cause is over, and stores when. Any process may do so, also after a restart.
import { type Limits, limitText, type LimitUsage } from '../../accounts/limits/index.ts';
import type { AlertStore, OpenAlert, WebhookStore } from '../../accounts/ports/index.ts';
import { asObject, asString, type JsonObject } from '../../base/json/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { FinishedRequest, RequestObserver } from '../../engine/index.ts';
import type { RoutingState } from '../../engine/routing/index.ts';

export interface AlertEndsOptions {
  readonly store: Pick<AlertStore, 'open' | 'resolve'>;
  readonly limits: Pick<Limits, 'writtenFor' | 'limitUsages' | 'limiter'>;
  readonly routing: Pick<RoutingState, 'seen'>;
  readonly webhooks: Pick<WebhookStore, 'health'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after an alert was resolved. */
  readonly ended: () => void;
}

/** Milliseconds between checks. */
const LOOK_MS = 5_000;
/** While no alert is open, only one of this many checks queries the database for alerts of other processes. */
const IDLE_LOOKS = 12;
/** Maximum number of endpoints and providers that are tracked. */
const MOST_NOTED = 1_000;

export class AlertEnds implements RequestObserver {
  readonly #options: AlertEndsOptions;
  readonly #stop: () => void;
  /**
   * Unix milliseconds of the last successful attempt, by endpoint and by provider. Filled only while alerts are open.
   */
  readonly #good = new Map<string, number>();
  #hasOpen = true;
  #looks = 0;
  #isLooking = false;

  constructor(options: AlertEndsOptions) {
    this.#options = options;
    this.#stop = options.clock.every(LOOK_MS, () => void this.#look());
  }

  /** Starts tracking successful attempts, after an alert was raised. */
  raised(): void {
    this.#hasOpen = true;
  }

  finished({ attempts, models }: FinishedRequest): void {
    if (!this.#hasOpen) return;
    const now = this.#options.clock.wall();
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      if (attempt?.outcome !== 'completed' || this.#good.size > MOST_NOTED) continue;
      this.#good.set(endpointName(models[at] ?? '', attempt.endpoint), now);
      this.#good.set(providerName(attempt.provider), now);
    }
  }

  stop(): void {
    this.#stop();
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    if (this.#isLooking || (!this.#hasOpen && this.#looks % IDLE_LOOKS > 0)) return;
    this.#isLooking = true;
    const { store, clock, log, ended } = this.#options;
    try {
      const open = await store.open();
      this.#hasOpen = open.length > 0;
      let hasEnded = false;
      for (const alert of open)
        if (isSuperseded(alert, open) || (await this.#isOver(alert)))
          hasEnded = (await store.resolve(alert.event, clock.wall())) || hasEnded;
      if (hasEnded) ended();
    } catch (error) {
      log.debug('resolved alerts could not be saved; will retry', { error });
    } finally {
      this.#isLooking = false;
      if (!this.#hasOpen) this.#good.clear();
    }
  }

  async #isOver(alert: OpenAlert): Promise<boolean> {
    const { data } = alert;
    switch (alert.type) {
      case 'endpoint.opened':
        return this.#isEndpointGood(alert);
      case 'provider.key_refused':
        return this.#hasSucceededSince(providerName(asString(data['provider']) ?? ''), alert);
      case 'budget.threshold_reached':
        return this.#isBudgetFree(alert);
      case 'webhook.disabled': {
        const id = asString(data['webhook']) ?? '';
        return ((await this.#options.webhooks.health([id])).get(id)?.disabled ?? null) === null;
      }
      default:
        return false;
    }
  }

  #isEndpointGood(alert: OpenAlert): boolean {
    const { routing, clock } = this.#options;
    const [modelId, slug] = [asString(alert.data['model']) ?? '', asString(alert.data['endpoint']) ?? ''];
    if (routing.seen({ modelId, slug })?.isBroken(clock.now()) !== false) return false;
    return this.#hasSucceededSince(endpointName(modelId, slug), alert);
  }

  #hasSucceededSince(name: string, { raisedAt }: OpenAlert): boolean {
    return (this.#good.get(name) ?? 0) > raisedAt;
  }

  /** True if a new period has begun, or the budget was raised, changed or removed. */
  #isBudgetFree({ data }: OpenAlert): boolean {
    const { limits, clock } = this.#options;
    const { id, type: kind } = asObject(data['owner'] ?? null);
    const written = limits.writtenFor({ id: asString(id) ?? '' }).filter(({ owner }) => owner.kind === kind);
    const limitUsage = limits
      .limitUsages(written)
      .find(({ limit }) => limitText(limit.rule) === data['budget']);
    if (!limitUsage) return true;
    const { window } = limitUsage.limit.rule;
    if (window.type === 'rolling') return this.#isBelow(limitUsage, Number(data['threshold_percent']));
    const start = limits.limiter.periodStart(window, clock.now());
    return start !== 0 && new Date(start).toISOString() !== data['period_start'];
  }

  /**
   * Usage of a rolling budget declines gradually. Zero may mean that it is not known yet after a restart, so it does
   * not count as below.
   */
  #isBelow({ used, reserved, limit }: LimitUsage, percent: number): boolean {
    return used > 0 && ((used - reserved) / limit.rule.amount) * 100 < percent;
  }
}

/** True if a higher threshold of the same budget and period has been reached since. */
function isSuperseded({ type, data }: OpenAlert, open: readonly OpenAlert[]): boolean {
  if (type !== 'budget.threshold_reached') return false;
  const ownerOf = (of: OpenAlert['data']): JsonObject => asObject(of['owner'] ?? null);
  return open.some(
    ({ type: other, data: higher }) =>
      other === type &&
      Number(higher['threshold_percent']) > Number(data['threshold_percent']) &&
      ['budget', 'budget_usd', 'period_start'].every((member) => higher[member] === data[member]) &&
      ['type', 'id'].every((member) => ownerOf(higher)[member] === ownerOf(data)[member]),
  );
}

function endpointName(model: string, slug: string): string {
  return `endpoint ${model} ${slug}`;
}

function providerName(provider: string): string {
  return `provider ${provider}`;
}
