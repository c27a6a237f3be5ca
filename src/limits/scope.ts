// The limits of one owner: a project, a key, a provider, the gateway. Read when its first request comes, so that a
// hundred thousand keys cost nothing at the start.
import type { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { rulesOf, type LimitEntry, type LimitRule } from './rule.ts';

export const OWNER_KINDS = ['gateway', 'project', 'key', 'provider'] as const;

/** Whose limits they are. */
export interface Owner {
  readonly kind: (typeof OWNER_KINDS)[number];
  /** Empty for the gateway as a whole. */
  readonly id: string;
  /** As people call it. */
  readonly name: string;
}

/** A rule of an owner, with what counts it. */
export interface Limit {
  /** Names owner and rule, the same after every reload. */
  readonly id: string;
  readonly owner: Owner;
  readonly rule: LimitRule;
  /** Null where each end user has a counter. */
  readonly counter: Counter | null;
}

/** One word for an owner. */
export function ownerWord({ kind, id }: Pick<Owner, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** Counters by owner and rule. They outlive the snapshots of the configuration that made them. */
export class CounterBook {
  readonly #maker: CounterMaker;
  readonly #owners = new Map<string, Map<string, Counter>>();

  constructor(maker: CounterMaker) {
    this.#maker = maker;
  }

  counterOf(owner: Owner, rule: LimitRule): Counter {
    const word = ownerWord(owner);
    let counters = this.#owners.get(word);
    if (!counters) this.#owners.set(word, (counters = new Map<string, Counter>()));
    let counter = counters.get(rule.counts);
    if (!counter) counters.set(rule.counts, (counter = this.#maker.make(rule.window)));
    return counter;
  }

  /** Forgets the counters of owners that are no more. Requests that run keep theirs. */
  keep(isKept: (ownerWord: string) => boolean): void {
    for (const word of this.#owners.keys()) if (!isKept(word)) this.#owners.delete(word);
  }
}

/** Models whose limits are remembered; what clients call models is bounded by nothing else. */
const MOST_MODELS = 64;

export class Scope {
  readonly owner: Owner;
  /** As they were written. */
  readonly entries: readonly LimitEntry[];
  readonly #book: CounterBook;
  #limits: readonly Limit[] | undefined;
  /** Null where all limits hold for every model. */
  #byModel: Map<string, readonly Limit[]> | null = null;

  /** @param entries checked before: one that means nothing throws at the first request */
  constructor(owner: Owner, entries: readonly LimitEntry[], book: CounterBook) {
    this.owner = owner;
    this.entries = entries;
    this.#book = book;
  }

  /** All limits of the owner. */
  get limits(): readonly Limit[] {
    return (this.#limits ??= this.#read());
  }

  /** Those that count a model. */
  limitsOf(model: string): readonly Limit[] {
    const all = this.limits;
    if (!this.#byModel) return all;
    let limits = this.#byModel.get(model);
    if (!limits) {
      limits = all.filter(({ rule }) => rule.models?.(model) !== false);
      if (this.#byModel.size >= MOST_MODELS) this.#byModel.clear();
      this.#byModel.set(model, limits);
    }
    return limits;
  }

  #read(): readonly Limit[] {
    const rules = rulesOf(this.entries);
    if (rules.some(({ models }) => models)) this.#byModel = new Map();
    const { owner } = this;
    return rules.map((rule) => ({
      id: `${ownerWord(owner)} ${rule.counts}`,
      owner,
      rule,
      counter: rule.eachEndUser ? null : this.#book.counterOf(owner, rule),
    }));
  }
}
