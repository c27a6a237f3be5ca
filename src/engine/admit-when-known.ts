// Admission of one request. Waits for other processes that share its limits, and after a start for the ledger to be
// read.
import type { Estimate, Limiter, Refusal, Reservation, Scope } from '../accounts/limits/index.ts';
import type { UnixMs } from '../base/units.ts';

/** Maximum parts of the ledger that one request waits for. */
const MOST_TIMES = 12;

/** Admits like the limiter, but waits where the usage is still unread. */
export async function admitWhenKnown(
  limiter: Limiter,
  scopes: readonly Scope[],
  estimate: Estimate,
  expiresAtMs: UnixMs,
): Promise<Reservation | Refusal> {
  let outcome = await limiter.take(scopes, estimate, expiresAtMs);
  for (let times = 0; times < MOST_TIMES; times += 1) {
    if (outcome.type === 'reservation' || outcome.reason !== 'unread') break;
    await limiter.unread(scopes, estimate);
    outcome = await limiter.take(scopes, estimate, expiresAtMs);
  }
  return outcome;
}
