// Why a request is refused, in facts and in words: which limit, whose it is, how much of it is used, when it frees.
import type { Frees } from './counter.ts';
import { usdOf } from './money.ts';
import type { LimitRule } from './rule.ts';
import type { Limit, Owner } from './scope.ts';

export interface Refusal {
  readonly type: 'refusal';
  /**
   * `rate`: too much at once or in a time; `budget`: no money is left; `unpriced`: nobody knows what it would cost;
   * `unread`: what was used before the start is not known yet.
   */
  readonly reason: 'rate' | 'budget' | 'unpriced' | 'unread';
  readonly limit: Limit;
  /** Requests, tokens or nano-dollars that the request needs. */
  readonly needed: number;
  /** Used when it was refused, reservations included. */
  readonly used: number;
  /** Part of `used` that is reserved by requests that run. */
  readonly reserved: number;
  readonly frees: Frees;
}

/** A sentence or two for whom it concerns. */
export function refusalText({ reason, limit, needed, used, reserved, frees }: Refusal): string {
  const { owner, rule } = limit;
  const whose = `the limit of ${ownerText(owner)}${rule.eachEndUser ? ' for each end user' : ''}`;
  const what = `${limitText(rule)} (${whose})`;
  if (reason === 'unpriced')
    return `The price of this model is unknown, and ${what} counts what it costs. \`unpriced: allow\` lets such requests pass.`;
  if (reason === 'unread')
    return `The gateway has just started, and still reads from its records what was used of ${what}. Try again soon.`;
  const held =
    reserved > 0 && rule.kind !== 'concurrent' ? `, of which ${amountText(rule, reserved)} reserved` : '';
  // Others may use the rest, or whoever shares it out does not answer: it is not reached, and nothing of it can be had here.
  const isShared = used + needed <= rule.amount;
  return `${what} is ${isShared ? 'not shared out just now' : 'reached'}: ${amountText(rule, used)} used${held}, ${amountText(rule, needed)} needed. ${freesText(frees)}`;
}

/** `60 requests per minute for openai/*`. */
export function limitText(rule: LimitRule): string {
  const { entry, kind } = rule;
  const window = entry.per === undefined ? (kind === 'concurrent' ? '' : ' in total') : perText(entry.per);
  const zone = entry.timezone === undefined ? '' : ` (${entry.timezone})`;
  const models = entry.models ? ` for ${entry.models.join(', ')}` : '';
  return `${amountText(rule, rule.amount)}${window}${zone}${models}`;
}

function perText(per: string): string {
  return /^\d/.test(per) ? ` in ${per}` : ` per ${per}`;
}

function ownerText({ kind, name }: Owner): string {
  return kind === 'gateway' ? 'the gateway' : `${kind} "${name}"`;
}

function amountText({ kind }: LimitRule, amount: number): string {
  if (kind === 'usd') return `$${usdText(amount)}`;
  if (kind === 'concurrent') return `${amount} concurrent ${amount === 1 ? 'request' : 'requests'}`;
  return `${amount} ${amount === 1 ? kind.slice(0, -1) : kind}`;
}

/** At least two decimals, and as many more as it has. */
function usdText(nanoUsd: number): string {
  const [whole = '0', decimals = ''] = usdOf(nanoUsd).toFixed(9).split('.');
  return `${whole}.${decimals.replace(/0{1,7}$/, '')}`;
}

function freesText(frees: Frees): string {
  if (frees === 'never') return 'It does not free by itself.';
  if (frees === 'settled') return 'It frees when running requests end.';
  return `It frees at ${new Date(frees).toISOString()}.`;
}
