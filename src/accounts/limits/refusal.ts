// Refusals by limits: the limit, its owner, its usage and when it frees, as data and as text.
import type { Frees } from './counter.ts';
import { limitWords } from './limit-words.ts';
import { usdOf } from './money.ts';
import type { LimitRule } from './rule.ts';
import type { Limit, Owner } from './scope.ts';

export interface Refusal {
  readonly type: 'refusal';
  /**
   * `rate`: too many requests or tokens; `budget`: the budget is spent; `unpriced`: the price is unknown; `unread`: the usage
   * from before the start is not read yet.
   */
  readonly reason: 'rate' | 'budget' | 'unpriced' | 'unread';
  /** Id of the model for `unpriced`, else undefined. */
  readonly model?: string;
  readonly limit: Limit;
  /** Requests, tokens or nano-dollars that the request needs. */
  readonly needed: number;
  /** Usage at the time of the refusal, reservations included. */
  readonly used: number;
  /** Part of `used` that running requests have reserved. */
  readonly reserved: number;
  /** Unix milliseconds, if it is a time. */
  readonly frees: Frees;
}

/** Duration of a refusal, for comparison. */
export function lasts({ frees }: Refusal): number {
  if (frees === 'settled') return 0;
  return frees === 'never' ? Infinity : frees;
}

/** True if waiting does not help: the price is unknown, or the request needs more than the whole limit. */
export function isHopeless({ reason, frees, needed, limit }: Refusal): boolean {
  return reason === 'unpriced' || (frees === 'never' && needed > limit.rule.amount);
}

/** Adds the requested model to a refusal. */
export function naming(model: string, refusal: Refusal): Refusal {
  return { ...refusal, model };
}

/** Error message of a refusal. */
export function refusalText(refusal: Refusal): string {
  const { reason, limit, needed, used, reserved, frees } = refusal;
  const { owner, rule } = limit;
  const whose = `the limit of ${ownerText(owner)}${rule.eachEndUser ? ' for each end user' : ''}`;
  const what = `${limitText(rule)} (${whose})`;
  if (reason === 'unpriced') return unpricedText(refusal, what);
  if (reason === 'unread')
    return `The gateway has just started and is still restoring the usage of ${what} from its records. Try again in a few seconds.`;
  // Distinguishes a spent budget from one whose remaining amount is too small for this request.
  const isTooSmall = rule.kind === 'tokens' || (rule.kind === 'usd' && used < rule.amount);
  if (frees === 'never' && isTooSmall && needed > rule.amount)
    return (
      `This request exceeds the whole limit of ${what}: it ${rule.kind === 'usd' ? 'may cost' : 'needs'} ${amountText(rule, needed)}, ` +
      'including its output limit. Request fewer output tokens, send a shorter prompt, or ask an administrator to raise the limit.'
    );
  const held =
    reserved > 0 && rule.kind !== 'concurrent' ? `, of which ${amountText(rule, reserved)} reserved` : '';
  // The limit is not reached by this process: others use the rest, or the shared store does not respond.
  const isShared = used + needed <= rule.amount;
  return `${what} is ${isShared ? 'temporarily unavailable to this process' : 'reached'}: ${amountText(rule, used)} used${held}, ${amountText(rule, needed)} needed. ${freesText(frees)}`;
}

/** Message for an unknown price: the model, the budget, and three remedies. */
function unpricedText({ model = 'this model', limit: { owner, rule } }: Refusal, what: string): string {
  return [
    `The price of ${model} is unknown, so the budget of ${what} cannot count this request. Do one of the following.`,
    `1. Set a price for its endpoint under \`models\` in dragoman.yaml: \`price: { input: 0, output: 0 }\` (USD per million tokens; 0 is free).`,
    '2. Load newer prices with `catalog.refresh` in dragoman.yaml.',
    `3. Allow requests without a price, which are then not counted: ${placeOfBudget(owner, limitWords({ ...rule.entry, unpriced: 'allow' }))}.`,
  ].join(' ');
}

function placeOfBudget({ kind, name }: Owner, words: string): string {
  const inFile = 'set `unpriced: allow` for the budget in dragoman.yaml under';
  if (kind === 'gateway' || kind === 'provider')
    return `${inFile} \`${kind === 'gateway' ? 'budgets' : `providers.${name}`}\``;
  return `\`dragoman ${kind}s set "${name}" --budget "${words}"\` (replaces all budgets of the ${kind}), or ${inFile} \`${kind}s\``;
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

/** US dollars with at least two decimals. */
function usdText(nanoUsd: number): string {
  const [whole = '0', decimals = ''] = usdOf(nanoUsd).toFixed(9).split('.');
  return `${whole}.${decimals.replace(/0{1,7}$/, '')}`;
}

function freesText(frees: Frees): string {
  if (frees === 'never') return 'It does not reset automatically. Ask an administrator to raise it.';
  if (frees === 'settled') return 'Capacity is released when running requests end.';
  return `Capacity is available at ${new Date(frees).toISOString()}.`;
}
