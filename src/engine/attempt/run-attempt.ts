// One attempt, and a second one where the first went out over a connection that the upstream had closed meanwhile: it may
// have been received, so that each is an attempt of its own in the records.
import type { Price } from '../../catalog/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { RunningCost } from '../running-cost.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { Attempt } from './attempt.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { ProviderHold } from './provider-hold.ts';
import { deferred, mayDefer } from './deferred.ts';
import { runningRecord } from './running-record.ts';

/**
 * Makes an attempt and runs it to its end.
 * @param attemptLog takes every attempt as it begins
 * @returns the one that counts. Rejects with GatewayError where it may not begin: `rate_limited` where its provider has no
 *   room, `quota` where no budget has
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
