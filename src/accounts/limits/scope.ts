// The limits of one owner: a project, a key, a provider, the gateway. Read when its first request comes, so that a
// hundred thousand keys cost nothing at the start.
import type { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { countsAlike, type LimitEntry, type LimitRule, rulesOf } from './rule.ts';

export const OWNER_KINDS = ['gateway', 'project', 'key', 'provider'] as const;

/** Owner of limits. */
export interface Owner {
  readonly kind: (typeof OWNER_KINDS)[number];
  /** Empty for the gateway as a whole. */
  readonly id: string;
  /** As people call it. */
  readonly name: string;
}

/** A rule of an owner, with what counts it. */
export interface Limit {
  readonly owner: Owner;
  readonly rule: LimitRule;
  /** Null where each end user has a counter. */
  readonly counter: Counter | null;
}

/** Names owner and rule, the same after every reload. */
export function limitId({ owner, rule }: Pick<Limit, 'owner' | 'rule'>): string {
  return `${ownerWord(owner)} ${rule.counts}`;
}

/** One word for an owner. */
export function ownerWord({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** Counters by owner and rule. They outlive the snapshots of the configuration that made them. */
export class CounterBook {
  readonly #maker: CounterMaker;
  readonly #sets = new RuleSets();
  readonly #owners = new Map<string, readonly Counted[]>();

  constructor(maker: CounterMaker) {
    this.#maker = maker;
  }

  /** The limits of an owner, each with the counter that it had before, if it had one. */
  limitsOf(owner: Owner, set: RuleSet): readonly Limit[] {
    const word = ownerWord(owner);
    const before = this.#owners.get(word) ?? [];
    const limits = set.rules.map((rule) => {
      const known = before.find(({ counts }) => counts === rule.counts);
      const counter = rule.eachEndUser ? null : (known?.counter ?? this.#maker.make(rule.window));
      return { owner, rule, counter };
    });
    const now = limits.flatMap(({ rule: { counts }, counter }) => (counter ? [{ counts, counter }] : []));
    // Counters of another snapshot stay, as long as requests under it may come: until owners are looked over again.
    const others = before.filter(({ counts }) => now.every((one) => one.counts !== counts));
    this.#owners.set(word, others.length > 0 ? [...now, ...others] : now);
    return limits;
  }

  rulesOf(entries: readonly LimitEntry[]): RuleSet {
    return this.#sets.of(entries);
  }

  /** Forgets the counters of an owner. Requests that run keep theirs. */
  forget(ownerWord: string): void {
    this.#owners.delete(ownerWord);
  }

  /** Forgets the counters of owners that are no more. Requests that run keep theirs. */
  keep(isKept: (ownerWord: string) => boolean): void {
    for (const word of this.#owners.keys()) if (!isKept(word)) this.#owners.delete(word);
  }
}

interface Counted {
  readonly counts: string;
  readonly counter: Counter;
}

/** Lists of limits that a scope remembers, where not all of them count every model. */
const MOST_LISTS = 16;

export class Scope {
  readonly owner: Owner;
  /** As they were written. */
  readonly entries: readonly LimitEntry[];
  readonly #book: CounterBook;
  #set: RuleSet | undefined;
  #limits: readonly Limit[] = [];
  #ofAll: readonly Limit[] | undefined;
  #budgetsOfAll: readonly Limit[] | undefined;
  #lists: Map<readonly number[], readonly Limit[]> | undefined;

  /** @param entries checked before: one that means nothing throws at the first request */
  constructor(owner: Owner, entries: readonly LimitEntry[], book: CounterBook) {
    this.owner = owner;
    this.entries = entries;
    this.#book = book;
  }

  /** False before its first request. */
  get isRead(): boolean {
    return this.#set !== undefined;
  }

  /** Makes its counters now. */
  read(): void {
    this.#rules();
  }

  /** All limits of the owner. */
  get limits(): readonly Limit[] {
    this.#rules();
    return this.#limits;
  }

  /** Limits that take the same of every request: one. */
  get limitsOfAll(): readonly Limit[] {
    this.#rules();
    return (this.#ofAll ??= this.#limits.filter(({ rule }) => countsAlike(rule)));
  }

  /** Budgets of every request that costs something. */
  get budgetsOfAll(): readonly Limit[] {
    this.#rules();
    return (this.#budgetsOfAll ??= this.#limits.filter(
      ({ rule }) => rule.kind === 'usd' && !rule.models && !rule.eachEndUser,
    ));
  }

  /** Limits that count a model. */
  limitsOf(model: string): readonly Limit[] {
    const numbers = this.#rules().countingModel(model);
    if (!numbers) return this.#limits;
    this.#lists ??= new Map();
    let limits = this.#lists.get(numbers);
    if (!limits) {
      limits = this.#limits.filter((_, at) => numbers.includes(at));
      if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
      this.#lists.set(numbers, limits);
    }
    return limits;
  }

  #rules(): RuleSet {
    if (this.#set) return this.#set;
    this.#set = this.#book.rulesOf(this.entries);
    this.#limits = this.#book.limitsOf(this.owner, this.#set);
    return this.#set;
  }
}

// Rules of owners whose limits are written alike: read once, with the rules that count a model.

/** Models whose rules are remembered; what clients call models is bounded by nothing else. */
const MOST_MODELS = 256;
/** Sets that are remembered. Owners keep theirs when it is forgotten here. */
const MOST_SETS = 1024;

class RuleSet {
  readonly rules: readonly LimitRule[];
  /** Null where all rules hold for every model. */
  readonly #byModel: Map<string, readonly number[]> | null;

  /** @throws RangeError as `rulesOf` */
  constructor(entries: readonly LimitEntry[]) {
    this.rules = rulesOf(entries);
    this.#byModel = this.rules.some(({ models }) => models) ? new Map() : null;
  }

  /** Numbers of the rules that count a model; null: all. The same object for the same model, as a rule. */
  countingModel(model: string): readonly number[] | null {
    if (!this.#byModel) return null;
    let numbers = this.#byModel.get(model);
    if (!numbers) {
      numbers = this.rules.flatMap(({ models }, at) => (models?.(model) === false ? [] : [at]));
      if (this.#byModel.size >= MOST_MODELS) this.#byModel.clear();
      this.#byModel.set(model, numbers);
    }
    return numbers.length === this.rules.length ? null : numbers;
  }
}

/** Sets by what is written: a hundred thousand keys have few kinds of limits. */
class RuleSets {
  readonly #sets = new Map<string, RuleSet>();

  /** @throws RangeError as `rulesOf` */
  of(entries: readonly LimitEntry[]): RuleSet {
    const text = JSON.stringify(entries);
    let set = this.#sets.get(text);
    if (!set) {
      set = new RuleSet(entries);
      if (this.#sets.size >= MOST_SETS) this.#sets.clear();
      this.#sets.set(text, set);
    }
    return set;
  }
}
