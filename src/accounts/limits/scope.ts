// Limits of one owner: a project, a key, a provider or the gateway. They are parsed at its first request, so that 100,000
// keys do not slow down the start.
import type { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { countsAlike, type LimitEntry, type LimitRule, rulesOf } from './rule.ts';

export const OWNER_KINDS = ['gateway', 'project', 'key', 'provider'] as const;

/** Owner of limits. */
export interface Owner {
  readonly kind: (typeof OWNER_KINDS)[number];
  /** Empty for the gateway. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
}

/** A rule of an owner, with its counter. */
export interface Limit {
  readonly owner: Owner;
  readonly rule: LimitRule;
  /** Null for limits per end user. */
  readonly counter: Counter | null;
}

/** Name of owner and rule, stable across reloads. */
export function limitId({ owner, rule }: Pick<Limit, 'owner' | 'rule'>): string {
  return `${ownerWord(owner)} ${rule.counts}`;
}

/** Name of an owner as one string. */
export function ownerWord({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** Counters by owner and rule. They survive changes of the configuration. */
export class CounterBook {
  readonly #maker: CounterMaker;
  readonly #sets = new RuleSets();
  readonly #owners = new Map<string, readonly Counted[]>();

  constructor(maker: CounterMaker) {
    this.#maker = maker;
  }

  /** Limits of an owner, with their existing counters. */
  limitsOf(owner: Owner, set: RuleSet): readonly Limit[] {
    const word = ownerWord(owner);
    const before = this.#owners.get(word) ?? [];
    const limits = set.rules.map((rule) => {
      const known = before.find(({ counts }) => counts === rule.counts);
      const counter = rule.eachEndUser ? null : (known?.counter ?? this.#maker.make(rule.window));
      return { owner, rule, counter };
    });
    const now = limits.flatMap(({ rule: { counts }, counter }) => (counter ? [{ counts, counter }] : []));
    // Counters of other snapshots stay until `keep`, because requests of those snapshots may still arrive.
    const others = before.filter(({ counts }) => now.every((one) => one.counts !== counts));
    this.#owners.set(word, others.length > 0 ? [...now, ...others] : now);
    return limits;
  }

  rulesOf(entries: readonly LimitEntry[]): RuleSet {
    return this.#sets.of(entries);
  }

  /** Forgets the counters of an owner. Running requests keep theirs. */
  forget(ownerWord: string): void {
    this.#owners.delete(ownerWord);
  }

  /** Forgets the counters of all other owners. Running requests keep theirs. */
  keep(isKept: (ownerWord: string) => boolean): void {
    for (const word of this.#owners.keys()) if (!isKept(word)) this.#owners.delete(word);
  }
}

interface Counted {
  readonly counts: string;
  readonly counter: Counter;
}

/** Cached lists of limits per scope, for rules that do not count all models. */
const MOST_LISTS = 16;

export class Scope {
  readonly owner: Owner;
  /** The limits as configured. */
  readonly entries: readonly LimitEntry[];
  readonly #book: CounterBook;
  #set: RuleSet | undefined;
  #limits: readonly Limit[] = [];
  #ofAll: readonly Limit[] | undefined;
  #budgetsOfAll: readonly Limit[] | undefined;
  #lists: Map<readonly number[], readonly Limit[]> | undefined;

  /** @param entries validated limits; an invalid one would throw at the first request */
  constructor(owner: Owner, entries: readonly LimitEntry[], book: CounterBook) {
    this.owner = owner;
    this.entries = entries;
    this.#book = book;
  }

  /** False before the first request. */
  get isRead(): boolean {
    return this.#set !== undefined;
  }

  /** Creates the counters now. */
  read(): void {
    this.#rules();
  }

  /** All limits of the owner. */
  get limits(): readonly Limit[] {
    this.#rules();
    return this.#limits;
  }

  /** Limits that count all requests alike. */
  get limitsOfAll(): readonly Limit[] {
    this.#rules();
    return (this.#ofAll ??= this.#limits.filter(({ rule }) => countsAlike(rule)));
  }

  /** Budgets that count all models and end users. */
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

// Rule sets: parsed rules, shared by owners with the same limits.

/** Cached models per rule set. Bounded, because clients may send any model name. */
const MOST_MODELS = 256;
/** Cached rule sets. Owners keep an evicted one. */
const MOST_SETS = 1024;

class RuleSet {
  readonly rules: readonly LimitRule[];
  /** Null: all rules count all models. */
  readonly #byModel: Map<string, readonly number[]> | null;

  /** @throws RangeError as `rulesOf` */
  constructor(entries: readonly LimitEntry[]) {
    this.rules = rulesOf(entries);
    this.#byModel = this.rules.some(({ models }) => models) ? new Map() : null;
  }

  /** Indexes of the rules that count a model; null: all. Usually the same object for the same model. */
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

/** Rule sets by their configuration. 100,000 keys have only a few different ones. */
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
