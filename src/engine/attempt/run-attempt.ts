// Runs one attempt, and a second one if the first used a connection that the upstream had closed. The upstream may have
// received the first, so both are recorded.
import type { Price } from '../../catalog/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { RunningCost } from '../running-cost.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { Attempt } from './attempt.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { deferred, mayDefer } from './deferred.ts';
import { GatewayError, inputTokens, outputTokens } from '../../canonical/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import { type Limiter, refusalText, type Reservation, type Scope } from '../../accounts/limits/index.ts';
import { estimateOf } from '../cost-estimate.ts';
import { admitWhenKnown } from '../admit-when-known.ts';
import { waitOf } from '../limit-errors.ts';
import { attemptRecord, type Charge } from './meter.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { RunningRecord } from '../../accounts/ports/index.ts';
import { summariseError } from './error-words.ts';
import type { UnixMs } from '../../base/units.ts';

/**
 * Runs an attempt to its end.
 * @param attemptLog receives every attempt as it begins
 * @returns the attempt that counts. Rejects with GatewayError when it may not begin: `rate_limited` when its provider's
 * limits are exceeded, `quota` when the budget is
 */
export async function runAttempt(
  input: AttemptInput,
  attemptLog: AttemptLog,
  cancellation: Cancellation,
  services: AttemptServices,
): Promise<Attempt> {
  const { job } = input.requester.arrival.call;
  for (let fresh = false; ; fresh = true) {
    if (job?.defer && mayDefer(input)) job.defer(input.prepared.endpoint, () => deferred(input));
    if (job) await job.asked(runningRecord(input, null, services.clock.wall()), priceOf(input));
    const isReady = job?.answered !== undefined;
    const hold =
      services.limits.hasProviders && !isReady
        ? await ProviderHold.take(input.prepared, input.requester.deadlineAt, services)
        : null;
    const runningCost = isReady ? null : beginRunningCost(input, attemptLog, hold, services);
    const attempt = new Attempt(
      input,
      { ordinal: attemptLog.attempts.length, fresh, runningCost, hold },
      services,
    );
    attemptLog.add(attempt);
    const running = attempt.run();
    cancellation.add(attempt);
    await running;
    cancellation.remove(attempt);
    runningCost?.end(attempt.charge());
    hold?.settle(attempt.charge(), attempt.wasSent);
    if (fresh || !attempt.isStale || cancellation.reason) return attempt;
  }
}

function beginRunningCost(
  input: AttemptInput,
  attemptLog: AttemptLog,
  hold: ProviderHold | null,
  { running, clock }: Pick<AttemptServices, 'running' | 'clock'>,
): RunningCost | null {
  const { requester, prepared } = input;
  const { quota } = requester.arrival;
  if (!quota) return null;
  const asked = { price: priceOf(input), inputTokens: prepared.estimateInput() };
  try {
    return quota.begin(asked, attemptLog.toolsNanoUsd, (endUser) =>
      running.open(runningRecord(input, endUser, clock.wall())),
    );
  } catch (refusal) {
    hold?.settle({ usage: null, cost: null }, false);
    throw refusal;
  }
}

function priceOf({ prepared: { endpoint, isListPriced } }: AttemptInput): Price | null {
  return isListPriced ? endpoint.price : null;
}

// Reservation in the provider's limits: one request and its expected tokens. Exceeded limits count as a refusal by the
// provider, so the next one is tried.

export class ProviderHold {
  readonly #limiter: Limiter;
  readonly #scope: Scope;
  readonly #reservation: Reservation;
  readonly #prepared: PreparedAttempt;

  private constructor(limiter: Limiter, scope: Scope, reservation: Reservation, prepared: PreparedAttempt) {
    this.#limiter = limiter;
    this.#scope = scope;
    this.#reservation = reservation;
    this.#prepared = prepared;
  }

  /**
   * Reserves capacity.
   * @param expiresAtMs latest end of the attempt
   * @returns null when the provider has no limits
   * @throws GatewayError `rate_limited` when no capacity is available
   */
  static async take(
    prepared: PreparedAttempt,
    expiresAtMs: UnixMs,
    { limits, routing, clock }: Pick<AttemptServices, 'limits' | 'routing' | 'clock'>,
  ): Promise<ProviderHold | null> {
    const { endpoint, request } = prepared;
    const scope = limits.ofProvider(endpoint.provider);
    if (!scope) return null;
    const asked = { request, inputTokens: prepared.estimateInput() };
    const { model, tokens, certainTokens } = estimateOf(asked, endpoint, null, routing);
    const { limiter } = limits;
    const estimate = { model, endUser: null, tokens, certainTokens, nanoUsd: 0 };
    const outcome = await admitWhenKnown(limiter, [scope], estimate, expiresAtMs);
    if (outcome.type === 'reservation') return new ProviderHold(limiter, scope, outcome, prepared);
    throw new GatewayError('rate_limited', refusalText(outcome), {
      code: 'rate_limit_exceeded',
      retryAfterMs: waitOf(outcome, clock.wall()),
    });
  }

  /** Corrects the limits by the vendor's own counts in the head of the answer. */
  learn({ upstream }: Protocol, header: (name: string) => string | null): void {
    for (const { kind, amount, remaining } of upstream.announcedLimits?.(header) ?? [])
      this.#limiter.correct(this.#scope, this.#prepared.endpoint.modelId, { kind, amount }, remaining);
  }

  /** Settles the reservation after the attempt. @param wasSent whether the vendor received the request */
  settle({ usage }: Charge, wasSent: boolean): void {
    const tokens = usage ? inputTokens(usage) + outputTokens(usage) : 0;
    this.#limiter.settle(this.#reservation, { requests: wasSent ? 1 : 0, tokens, nanoUsd: 0 });
  }
}

// Record of a running request as it would be if the process died now. Stored while it runs if a budget applies.

/** Maximum characters of the model name. */
const MAX_MODEL_CHARS = 256;

/** @param endUser hash of the request's end user */
function runningRecord(input: AttemptInput, endUser: string | null, nowMs: UnixMs): RunningRecord {
  const { requester, prepared } = input;
  const { recordId: id, call, createdAt } = requester.arrival;
  const { endpoint, request, lane } = prepared;
  const error = new GatewayError('internal', 'The gateway was killed during the request.');
  const times = { startedAt: nowMs, endedAt: nowMs, sentAt: null, answeredAt: null, status: null };
  const nothing = { meter: { firstContentAt: null, upstreamId: null }, charge: { usage: null, cost: null } };
  return {
    generation: {
      id,
      keyId: call.principal.keyId,
      projectId: call.principal.projectId,
      endUser,
      api: call.api,
      protocol: call.protocol.name,
      requestedModel: request.model.slice(0, MAX_MODEL_CHARS),
      model: endpoint.modelId,
      provider: endpoint.provider,
      endpoint: endpoint.slug,
      lane,
      streamed: request.stream,
      createdAt,
      firstContentAt: null,
      endedAt: nowMs,
      status: 500,
      finishReason: null,
      nativeFinishReason: null,
      cancelled: false,
      attempts: 1,
      turns: 1,
      replayOf: null,
      usage: null,
      cost: null,
      report: [],
      route: null,
      error: summariseError(error),
      metadata: null,
      content: null,
    },
    attempt: attemptRecord(input, { ordinal: 0 }, { ...times, error, ...nothing }),
    inputTokens: prepared.estimateInput(),
  };
}
