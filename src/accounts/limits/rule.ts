// One limit as it holds: what is counted, how much of it, in which window and for which models. Made of what the
// configuration or a key says; knows nothing of who is counted, or how.
import { countsModel, plainModelName } from '../../canonical/index.ts';
import { nanoUsdOf } from './money.ts';
import { lifetime, parseWindow, type Window } from './window.ts';
import { compileNamePatterns } from '../../base/lib/name-patterns.ts';

export const LIMIT_KINDS = ['requests', 'tokens', 'concurrent', 'usd'] as const;
/** The counted quantity. `concurrent`: requests that run now. `usd`: the limit is a budget. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** As many limits, and as many budgets, as one owner may have: each is looked at for every request. */
export const MOST_LIMITS = 32;

/** A limit or a budget as it is written: exactly one of the kinds, and what it holds for. */
export interface LimitEntry {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly usd?: number | undefined;
  /** `second` … `month`, or a rolling `"5h"`; absent: the sum of all times. */
  readonly per?: string | undefined;
  /** Name of the time zone in which days, weeks and months begin; absent: UTC. */
  readonly timezone?: string | undefined;
  /** Models that are counted, `*` for any characters; absent: all. */
  readonly models?: readonly string[] | undefined;
  /** `end_user`: everybody whom requests name has a count of their own. */
  readonly each?: 'end_user' | undefined;
  readonly when_spent?: 'stop' | 'finish' | undefined;
  readonly unpriced?: 'refuse' | 'allow' | undefined;
  /** `allow`: a request that asks for more tokens than the limit has runs while nothing of it is used. */
  readonly too_large?: 'refuse' | 'allow' | undefined;
}

export interface LimitRule {
  readonly kind: LimitKind;
  /** Requests, tokens, or whole nano-dollars. */
  readonly amount: number;
  readonly window: Window;
  /** Null: every model. */
  readonly models: ((model: string) => boolean) | null;
  readonly eachEndUser: boolean;
  /** Whether a running answer is ended when the budget is spent. */
  readonly stops: boolean;
  /** Whether requests whose price is unknown pass a budget uncounted. */
  readonly allowsUnpriced: boolean;
  /** Whether a request that asks for more tokens than the limit has runs while nothing of it is used. */
  readonly allowsTooLarge: boolean;
  /** The same for rules that count the same kind in the same window, of whomever. */
  readonly measures: string;
  /** The same for rules that count the same: all but the amount and what happens at it. A counter keeps under this
   * name what it has when the amount is changed. */
  readonly counts: string;
  /** As it was written. */
  readonly entry: LimitEntry;
}

/** True for a rule that counts every request as one, whatever it asks for and on whose behalf. */
export function countsAlike({ kind, models, eachEndUser }: LimitRule): boolean {
  return (kind === 'requests' || kind === 'concurrent') && models === null && !eachEndUser;
}

/** Rules of one owner's limits. @throws RangeError as `ruleOf`, or when two of them count the same */
export function rulesOf(entries: readonly LimitEntry[]): readonly LimitRule[] {
  const rules = entries.map(ruleOf);
  const double = rules.findIndex(({ counts }, at) => rules.findIndex((rule) => rule.counts === counts) < at);
  if (double >= 0)
    throw new RangeError(`number ${double + 1} counts the same as one before it: keep the lower`);
  return rules;
}

/** The rule of a limit. @throws RangeError when it does not name exactly one kind, or its window is none */
export function ruleOf(entry: LimitEntry): LimitRule {
  const kinds = LIMIT_KINDS.filter((kind) => entry[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new RangeError(`must have exactly one of ${LIMIT_KINDS.join(', ')}`);
  if (kind === 'concurrent' && entry.per !== undefined)
    throw new RangeError('`concurrent` has no window: leave `per` out');
  if (kind !== 'tokens' && entry.too_large !== undefined)
    throw new RangeError('only limits of tokens have `too_large`: leave it out');
  const said = entry[kind] ?? 0;
  return {
    ...whatItCounts(kind, entry),
    amount: kind === 'usd' ? nanoUsdOf(said) : said,
    stops: entry.when_spent !== 'finish',
    allowsUnpriced: entry.unpriced === 'allow',
    allowsTooLarge: entry.too_large === 'allow',
    entry,
  };
}

/** Whether one of these patterns names a model, however it is spelled. */
function modelsOf(patterns: readonly string[]): (names: string) => boolean {
  const covers = compileNamePatterns([...patterns, ...patterns.map(plainModelName)]);
  return (names) => countsModel(covers, names);
}

/** Members that rules share which count the same: 100,000 keys have few kinds of them. */
type Counting = Omit<LimitRule, 'amount' | 'stops' | 'allowsUnpriced' | 'allowsTooLarge' | 'entry'>;

const countings = new Map<string, Counting>();
const MOST_COUNTINGS = 1024;

function whatItCounts(kind: LimitRule['kind'], { per, timezone, models, each }: LimitEntry): Counting {
  const said = JSON.stringify([kind, per, timezone, models, each]);
  const known = countings.get(said);
  if (known) return known;
  const window = kind === 'concurrent' ? lifetime : parseWindow(per, timezone);
  const counting = {
    kind,
    window,
    models: models ? modelsOf(models) : null,
    eachEndUser: each === 'end_user',
    measures: JSON.stringify([kind, window]),
    counts: JSON.stringify([kind, window, models?.toSorted() ?? null, each ?? null]),
  };
  if (countings.size >= MOST_COUNTINGS) countings.clear();
  countings.set(said, counting);
  return counting;
}
