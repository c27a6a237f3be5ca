// Whether one limit lets a request begin, and why not.
import { shownName } from '../../canonical/index.ts';
import { type Estimate, neededOf, neverFits } from './amounts.ts';
import { naming, type Refusal } from './refusal.ts';
import type { Hold } from './reservation.ts';
import type { UnixMs } from '../../base/units.ts';

/** A request of which nothing is known. */
export const LEAST: Estimate = { model: '', endUser: null, tokens: 1, nanoUsd: 1 };

/** When somebody may try again who is refused for what other processes use, or the ledger has not told, in milliseconds. */
const AGAIN_MS = 1000;

type Counting = Pick<Hold, 'limit' | 'counter' | 'shared'>;

/** @param mayAsk whether what other processes may have counts as there */
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
  if (neverFits(rule, estimate)) return { ...refusalOf('rate', counting, needed, now), frees: 'never' };
  const room = shared && !(mayAsk && shared.mayHave(needed)) ? shared.room() : rule.amount;
  if (needed === 0 || counter.used(now) + needed <= room) return null;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', counting, needed, now);
}

/** Others had less than a request needs, and have it again meanwhile: it may try again. */
export function refusedByOthers(holds: readonly Hold[], estimate: Estimate, now: UnixMs): Refusal {
  const [first] = holds;
  if (!first) throw new Error('A request under no limit was refused.');
  const found = holds.find(({ shared }) => shared && !shared.mayHave(Infinity)) ?? first;
  const { rule } = found.limit;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', found, neededOf(rule, estimate), now);
}

export function refusalOf(
  reason: Refusal['reason'],
  { limit, counter, shared }: Counting,
  needed: number,
  now: UnixMs,
): Refusal {
  const others = shared?.others ?? 0;
  // Use of other processes ends at an unknown time: the refusal names the latest.
  const limitHere = shared ? Math.max(needed, limit.rule.amount - others) : limit.rule.amount;
  const frees = reason === 'unpriced' ? 'never' : counter.freesAt(needed, limitHere, now);
  const isSoon = reason === 'unread' || (frees === now && shared !== null);
  return {
    type: 'refusal',
    reason,
    limit,
    needed,
    used: counter.used(now) + others,
    reserved: counter.reserved,
    frees: isSoon ? now + AGAIN_MS : frees,
  };
}
