// Admission where limits may be shared with other processes: what this one lacks, others may have.
import type { Demand, Limiter, Refusal, Reservation, Scope } from '../limits/index.ts';

/** How often others are asked for one request: there is less with each time, and then there is none. */
const MOST_TIMES = 12;

/** As the limiter admits; where only others have room, they are asked until they have none either. */
export function admitOrAsk(
  limiter: Limiter,
  scopes: readonly Scope[],
  demand: Demand,
  expiresAtMs: number,
): Reservation | Refusal | Promise<Reservation | Refusal> {
  const outcome = limiter.admit(scopes, demand, expiresAtMs);
  if (outcome.type === 'reservation') return outcome;
  const asked = limiter.obtain(scopes, demand);
  return asked ? askOthers(asked, outcome) : outcome;

  async function askOthers(first: Promise<void>, refusal: Refusal): Promise<Reservation | Refusal> {
    let answered: Promise<void> | null = first;
    let latest: Reservation | Refusal = refusal;
    for (let times = 0; answered && times < MOST_TIMES; times += 1) {
      await answered;
      latest = limiter.admit(scopes, demand, expiresAtMs);
      answered = latest.type === 'refusal' ? limiter.obtain(scopes, demand) : null;
    }
    return latest;
  }
}
