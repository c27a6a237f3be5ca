// Limits of which the ledger has not told yet, after a start, what was used: nobody begins under them, for he would be counted
// from nothing. Whoever comes waits for a while, and is refused then.
import type { LimitRule } from './rule.ts';
import type { Limit, Owner } from './scope.ts';

export class UnreadLimits {
  readonly #questions = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #pause: () => Promise<void>;
  #next = Promise.withResolvers<void>();

  /** @param pause how long somebody waits at a time */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** Notes what the ledger is asked, as far as it has not told it before. */
  ask(questions: Iterable<string>): void {
    for (const question of questions) if (!this.#answered.has(question)) this.#questions.add(question);
  }

  has({ owner, rule }: Limit): boolean {
    return this.isUnread(questionName(owner.kind, rule));
  }

  isUnread(question: string): boolean {
    return this.#questions.has(question);
  }

  /** The ledger has told it. */
  answered(question: string): void {
    this.#questions.delete(question);
    this.#answered.add(question);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when the ledger has told more, or after a while. */
  wait(): Promise<void> {
    return Promise.race([this.#next.promise, this.#pause()]);
  }
}

/** The same for limits that one question to the ledger is for. */
export function questionName(
  by: Owner['kind'],
  { measures, eachEndUser }: Pick<LimitRule, 'measures' | 'eachEndUser'>,
): string {
  return `${by} ${eachEndUser} ${measures}`;
}
