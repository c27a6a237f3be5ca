// Rules of owners whose limits are written alike: read once, with the rules that count a model.
import { rulesOf, type LimitEntry, type LimitRule } from './rule.ts';

/** Models whose rules are remembered; what clients call models is bounded by nothing else. */
const MOST_MODELS = 256;
/** Sets that are remembered. Owners keep theirs when it is forgotten here. */
const MOST_SETS = 1024;

export class RuleSet {
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
export class RuleSets {
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
