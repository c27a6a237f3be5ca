// Decides whether one limit admits a request.
import { shownName } from '../../canonical/index.ts';
import { type Estimate, neededOf, exceedsLimit } from './amounts.ts';
import { naming, type Refusal } from './refusal.ts';
import type { LimitReservation } from './reservation.ts';
import type { UnixMs } from '../../base/units.ts';

/** Estimate for a request that has not been read: the smallest amounts. */
export const LEAST: Estimate = { model: '', endUser: null, tokens: 1, nanoUsd: 1 };

/** Milliseconds until a retry, if the reason is usage of other processes, or usage not yet read from the ledger. */
const RETRY_MS = 1000;

type Counting = Pick<LimitReservation, 'limit' | 'counter' | 'shared'>;

/** @param mayAsk true: amounts that other processes may release count as available */
export function checkOne(
  counting: Counting,
  estimate: Estimate,
  now: UnixMs,
  mayAsk: boolean,
): Refusal | null {
  const { limit, counter, shared } = counting;
  const { rule } = limit;
  if (rule.kind === 'usd' && estimate.nanoUsd === null)
    return rule.allowsUnpriced
      ? null
      : naming(shownName(estimate.model), refusalOf('unpriced', counting, 0, now));
  const needed = neededOf(rule, estimate);
  if (exceedsLimit(rule, estimate)) return { ...refusalOf('rate', counting, needed, now), frees: 'never' };
  const room = shared && !(mayAsk && shared.mayHave(needed)) ? shared.room() : rule.amount;
  if (needed === 0 || counter.used(now) + needed <= room) return null;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', counting, needed, now);
}

/** Refusal after the shared store granted nothing, although enough is available by now: the client may retry. */
export function refusedByOthers(
  holds: readonly LimitReservation[],
  estimate: Estimate,
  now: UnixMs,
): Refusal {
  const [first] = holds;
  if (!first) throw new Error('A request under no limit was refused.');
  const found = holds.find(({ shared }) => shared && !shared.mayHave(Infinity)) ?? first;
  const { rule } = found.limit;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', found, neededOf(rule, estimate), now);
}

/** @param spent part of the reservations that a running answer has used, and that it does not release when it ends */
export function refusalOf(
  reason: Refusal['reason'],
  { limit, counter, shared }: Counting,
  needed: number,
  now: UnixMs,
  spent = 0,
): Refusal {
  const others = shared?.others ?? 0;
  // It is unknown when the usage of other processes ends, so the latest possible time is stated.
  const limitHere = shared ? Math.max(needed, limit.rule.amount - others) : limit.rule.amount;
  const isTakenByOthers = needed <= limit.rule.amount && others + needed > limit.rule.amount;
  const latest = isTakenByOthers ? counter.clearsAt(now) : null;
  const frees = reason === 'unpriced' ? 'never' : (latest ?? counter.freesAt(needed, limitHere, now, spent));
  const isSoon = reason === 'unread' || (frees === now && shared !== null);
  return {
    type: 'refusal',
    reason,
    limit,
    needed,
    used: counter.used(now) + others,
    reserved: counter.reserved,
    frees: isSoon ? now + RETRY_MS : frees,
  };
}
