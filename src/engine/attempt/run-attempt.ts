// One attempt, and a second one where the first went out over a connection that the upstream had closed meanwhile: it may
// have been received, so that each is an attempt of its own in the records.
import type { Cancellation } from '../cancellation.ts';
import type { Spending } from '../spending.ts';
import type { Trail } from '../trail.ts';
import { Attempt } from './attempt.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { ProviderHold } from './provider-hold.ts';
import { runningRecord } from './running-record.ts';

/**
 * Makes an attempt and runs it to its end.
 * @param trail takes every attempt as it begins
 * @returns the one that counts. Rejects with GatewayError where it may not begin: `rate_limited` where its provider has no
 *   room, `quota` where no budget has
 */
export async function runAttempt(
  input: AttemptInput,
  trail: Trail,
  cancellation: Cancellation,
  services: AttemptServices,
): Promise<Attempt> {
  for (let fresh = false; ; fresh = true) {
    const taken = services.limits.hasProviders
      ? ProviderHold.take(input.prepared, input.requester.deadlineAt, services)
      : null;
    const hold = taken instanceof Promise ? await taken : taken;
    const spending = beginSpending(input, trail, hold, services);
    const attempt = new Attempt(input, { ordinal: trail.attempts.length, fresh, spending, hold }, services);
    trail.add(attempt);
    const running = attempt.run();
    cancellation.add(attempt);
    await running;
    cancellation.remove(attempt);
    spending?.end(attempt.charge());
    hold?.settle(attempt.charge(), attempt.wasSent);
    if (fresh || !attempt.isStale || cancellation.reason) return attempt;
  }
}

function beginSpending(
  input: AttemptInput,
  trail: Trail,
  hold: ProviderHold | null,
  { running, clock }: Pick<AttemptServices, 'running' | 'clock'>,
): Spending | null {
  const { requester, prepared } = input;
  const { allowance } = requester.arrival;
  if (!allowance) return null;
  const { endpoint, isListPriced } = prepared;
  const asked = { price: isListPriced ? endpoint.price : null, inputTokens: prepared.estimateInput() };
  try {
    return allowance.begin(asked, trail.toolsNanoUsd, (endUser) =>
      running.open(runningRecord(input, endUser, clock.now())),
    );
  } catch (refusal) {
    hold?.settle({ usage: null, cost: null }, false);
    throw refusal;
  }
}
