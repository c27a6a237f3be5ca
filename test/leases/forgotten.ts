// Which uses a store cannot know of that has lost its data: those of whoever says nothing before it leases again. Of a rate
// nobody else could tell.
import type { Caller, CounterStore } from '../../src/limits/index.ts';

/** A store of which it is noted who claims. */
export function noting(store: CounterStore, note: (caller: Caller) => void): CounterStore {
  return {
    claim: (caller, claims) => {
      note(caller);
      return store.claim(caller, claims);
    },
    leave: (...said) => store.leave(...said),
    restoring: (...said) => store.restoring(...said),
    restored: (...said) => store.restored(...said),
  };
}

interface User {
  /** That of its latest call. */
  readonly turn: number;
}

interface Use {
  readonly node: User;
}

export class Forgotten {
  /** Who was not heard since the latest loss, and the latest call of each before it. */
  readonly #unheard = new Map<User, number>();
  readonly #uses = new Set<Use>();
  /** Where the store has leased meanwhile: nobody makes up for that. */
  readonly #forGood = new Set<Use>();
  #settlesAt = 0;

  has(use: Use): boolean {
    return this.#uses.has(use) || this.#forGood.has(use);
  }

  /** @param users everybody @param uses all so far @param settlesAt when the store leases again */
  lose(users: readonly User[], uses: readonly Use[], nowMs: number, settlesAt: number): void {
    if (nowMs >= this.#settlesAt) this.#giveUp(() => true);
    this.#settlesAt = settlesAt;
    for (const user of users) this.#unheard.set(user, user.turn);
    for (const use of uses) this.used(use);
  }

  used(use: Use): void {
    if (this.#unheard.has(use.node) && !this.#forGood.has(use)) this.#uses.add(use);
  }

  hear(node: User, turn: number, nowMs: number): void {
    const before = this.#unheard.get(node);
    if (before === undefined || turn <= before) return;
    this.#unheard.delete(node);
    if (nowMs >= this.#settlesAt) this.#giveUp((use) => use.node === node);
    for (const use of this.#uses) if (use.node === node) this.#uses.delete(use);
  }

  #giveUp(which: (use: Use) => boolean): void {
    for (const use of this.#uses) {
      if (!which(use)) continue;
      this.#uses.delete(use);
      this.#forGood.add(use);
    }
  }
}
