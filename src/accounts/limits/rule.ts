// A limit in parsed form: quantity, amount, window and models. Created from the entry in the configuration or on a key.
import { countsModel, plainModelName } from '../../canonical/index.ts';
import { nanoUsdOf } from './money.ts';
import { lifetime, parseWindow, type Window } from './window.ts';
import { compileNamePatterns } from '../../base/lib/name-patterns.ts';

export const LIMIT_KINDS = ['requests', 'tokens', 'concurrent', 'usd'] as const;
/** Counted quantity. `concurrent`: running requests. `usd`: the limit is a budget. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** Maximum number of limits, and of budgets, per owner. Every request checks all of them. */
export const MOST_LIMITS = 32;

/** A limit or a budget as configured: exactly one quantity, and its scope. */
export interface LimitEntry {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly usd?: number | undefined;
  /** `second` … `month`, or a rolling `"5h"`; absent: for all time. */
  readonly per?: string | undefined;
  /** Time zone of days, weeks and months; absent: UTC. */
  readonly timezone?: string | undefined;
  /** Counted models, with `*` for any characters; absent: all. */
  readonly models?: readonly string[] | undefined;
  /** `end_user`: separate count per end user. */
  readonly each?: 'end_user' | undefined;
  readonly when_spent?: 'stop' | 'finish' | undefined;
  readonly unpriced?: 'refuse' | 'allow' | undefined;
  /** `allow`: a request for more tokens than the whole limit may run while nothing else is used. */
  readonly too_large?: 'refuse' | 'allow' | undefined;
}

export interface LimitRule {
  readonly kind: LimitKind;
  /** Requests, tokens, or whole nano-dollars. */
  readonly amount: number;
  readonly window: Window;
  /** Null: all models. */
  readonly models: ((model: string) => boolean) | null;
  readonly eachEndUser: boolean;
  /** True: running answers stop when the budget is spent. */
  readonly stops: boolean;
  /** True: requests with an unknown price pass the budget uncounted. */
  readonly allowsUnpriced: boolean;
  /** True: a request for more tokens than the whole limit may run while nothing else is used. */
  readonly allowsTooLarge: boolean;
  /** Equal for rules that count the same quantity in the same window. */
  readonly measures: string;
  /** Equal for rules that differ only in amount and enforcement. Counters are stored under this name, so that they survive
   * a change of the amount. */
  readonly counts: string;
  /** The entry as configured. */
  readonly entry: LimitEntry;
}

/** True for a rule that counts all requests alike, independent of model, content and end user. */
export function countsAlike({ kind, models, eachEndUser }: LimitRule): boolean {
  return (kind === 'requests' || kind === 'concurrent') && models === null && !eachEndUser;
}

/** Rules of one owner. @throws RangeError as `ruleOf`, or if two of them count the same */
export function rulesOf(entries: readonly LimitEntry[]): readonly LimitRule[] {
  const rules = entries.map(ruleOf);
  const double = rules.findIndex(({ counts }, at) => rules.findIndex((rule) => rule.counts === counts) < at);
  if (double >= 0)
    throw new RangeError(`number ${double + 1} limits the same as an earlier one; keep the lower one`);
  return rules;
}

/** Parses a limit. @throws RangeError if it has not exactly one quantity, or an invalid window */
export function ruleOf(entry: LimitEntry): LimitRule {
  const kinds = LIMIT_KINDS.filter((kind) => entry[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new RangeError(`must have exactly one of ${LIMIT_KINDS.join(', ')}`);
  if (kind === 'concurrent' && entry.per !== undefined)
    throw new RangeError('`concurrent` has no window; remove `per`');
  if (kind !== 'tokens' && entry.too_large !== undefined)
    throw new RangeError('`too_large` is allowed only for limits of tokens; remove it');
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

/** Creates a function that matches models by patterns, in any spelling. */
function modelsOf(patterns: readonly string[]): (names: string) => boolean {
  const covers = compileNamePatterns([...patterns, ...patterns.map(plainModelName)]);
  return (names) => countsModel(covers, names);
}

/** Members shared by rules that count the same, because 100,000 keys have only a few different ones. */
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
