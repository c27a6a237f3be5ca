// Limits whose usage has not been read from the ledger after a start. Requests under them would be counted from 0. So they
// wait for a while, and are refused after that.
import type { LimitRule } from './rule.ts';
import type { Limit, Owner } from './scope.ts';

export class UnreadLimits {
  readonly #questions = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #pause: () => Promise<void>;
  #next = Promise.withResolvers<void>();

  /** @param pause one pause of a waiting request */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** Adds queries to the ledger, without those that are already done. */
  ask(questions: Iterable<string>): void {
    for (const question of questions) if (!this.#answered.has(question)) this.#questions.add(question);
  }

  has({ owner, rule }: Limit): boolean {
    return this.isUnread(questionName(owner.kind, rule));
  }

  isUnread(question: string): boolean {
    return this.#questions.has(question);
  }

  /** Marks a query as done. */
  answered(question: string): void {
    this.#questions.delete(question);
    this.#answered.add(question);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves when another query is done, or after one pause. */
  wait(): Promise<void> {
    return Promise.race([this.#next.promise, this.#pause()]);
  }
}

/** Name of the query that restores a limit. Limits with the same query share it. */
export function questionName(
  by: Owner['kind'],
  { measures, eachEndUser }: Pick<LimitRule, 'measures' | 'eachEndUser'>,
): string {
  return `${by} ${eachEndUser} ${measures}`;
}
