// Detects conditions for alerts, once a second, from requests completed since the last check. Adds no work to requests
// themselves.
import type { FinishedRequest, RequestObserver } from '../../engine/index.ts';
import { TEXTS } from '../../canonical/index.ts';
import type { Limits } from '../../accounts/limits/index.ts';
import { type EndpointId, isOnlyLimited, type RoutingState } from '../../engine/routing/index.ts';
import { type Clock, shownTime } from '../../base/runtime/clock.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import type { Alert } from './alert.ts';
import { BudgetWatch } from './watch-budgets.ts';
import type { UnixMs } from '../../base/units.ts';

export interface WatchOptions {
  readonly limits: Limits;
  readonly routing: Pick<RoutingState, 'seen'>;
  readonly ledger: Pick<LedgerStore, 'backlog'>;
  readonly clock: Clock;
  readonly raise: (alert: Alert) => Promise<void>;
  /** Called with an alert that is over and was not stored. @param raisedAt Unix milliseconds */
  readonly over: (alert: Alert, raisedAt: UnixMs) => Promise<void>;
}

const LOOK_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Milliseconds that the database may accept no records before an alert. Short locks by others are normal. */
const STUCK_MS = 30_000;
/** Maximum number of endpoints and providers that are tracked between checks. */
const MOST_NOTED = 1_000;

export class Watch implements RequestObserver {
  readonly #options: WatchOptions;
  readonly #budgets: BudgetWatch;
  readonly #stop: () => void;
  /** Endpoints with failed attempts since the last check. */
  readonly #failed = new Map<string, EndpointId>();
  /** Providers that refused their key since the last check, with the status. */
  readonly #refused = new Map<string, number>();
  #isUnrecorded = false;
  /** Alert of the failing ledger, until it is over. */
  #failing: { readonly alert: Alert; readonly raisedAt: UnixMs } | undefined;
  /** Unix milliseconds; undefined while the database accepts records. */
  #stuckSince: UnixMs | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#budgets = new BudgetWatch(options.limits);
    this.#stop = options.clock.every(LOOK_MS, () => this.#look());
  }

  finished({ generation, attempts, models, principal, unrecorded }: FinishedRequest): void {
    this.#budgets.note(principal, generation);
    if (unrecorded !== undefined) this.#isUnrecorded = true;
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      if (attempt?.outcome === 'failed')
        this.#noteFailure(models[at] ?? '', attempt.endpoint, attempt.provider, attempt.status);
    }
  }

  stop(): void {
    this.#stop();
  }

  #noteFailure(modelId: string, slug: string, provider: string, status: number | null): void {
    if (this.#failed.size < MOST_NOTED) this.#failed.set(`${modelId} ${slug}`, { modelId, slug });
    if ((status === 401 || status === 403) && this.#refused.size < MOST_NOTED)
      this.#refused.set(provider, status);
  }

  #look(): void {
    const { raise, clock } = this.#options;
    const now = clock.now();
    for (const alert of [
      ...this.#budgets.look(now),
      ...this.#endpoints(now),
      ...this.#keys(),
      ...this.#ledger(now),
    ])
      void raise(alert);
  }

  *#endpoints(now: UnixMs): Iterable<Alert> {
    for (const [id, { modelId, slug }] of this.#failed) {
      const health = this.#options.routing.seen({ modelId, slug });
      if (health?.isBroken(now) !== true) continue;
      const { reason, until } = health.availability(now);
      const what = isOnlyLimited(health, now) ? 'is rate limited' : 'keeps failing';
      yield {
        type: 'endpoint.opened',
        id: `endpoint ${id}`,
        quietMs: HOUR_MS,
        isNoted: true,
        message: `the endpoint ${slug} of ${modelId} ${what} and is now tried last: ${reason ?? 'unknown reason'}`,
        data: {
          model: modelId,
          endpoint: slug,
          reason,
          until: until === null ? null : new Date(shownTime(this.#options.clock, until)).toISOString(),
        },
      };
    }
    this.#failed.clear();
  }

  *#keys(): Iterable<Alert> {
    for (const [provider, status] of this.#refused)
      yield {
        type: 'provider.key_refused',
        id: `provider key ${provider}`,
        quietMs: HOUR_MS,
        isNoted: true,
        message: `the provider ${provider} rejects its API key (status ${status})`,
        data: { provider, status },
      };
    this.#refused.clear();
  }

  *#ledger(now: UnixMs): Iterable<Alert> {
    const { isStuck, bytes } = this.#options.ledger.backlog();
    this.#stuckSince = isStuck ? (this.#stuckSince ?? now) : undefined;
    const isLong = this.#stuckSince !== undefined && now - this.#stuckSince >= STUCK_MS;
    if (!isLong && !this.#isUnrecorded) {
      if (!isStuck && this.#failing) void this.#options.over(this.#failing.alert, this.#failing.raisedAt);
      if (!isStuck) this.#failing = undefined;
      return;
    }
    const alert: Alert = {
      type: 'ledger.failing',
      id: 'ledger',
      quietMs: HOUR_MS,
      isNoted: false,
      message: this.#isUnrecorded
        ? 'records of requests are being lost: the ledger cannot be written'
        : TEXTS.recordsWait,
      data: { unrecorded: this.#isUnrecorded, waiting_bytes: bytes },
    };
    this.#failing ??= { alert, raisedAt: this.#options.clock.wall() };
    yield alert;
    this.#isUnrecorded = false;
  }
}
