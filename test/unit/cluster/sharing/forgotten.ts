// Which uses a store cannot know of that has lost its data: those of whoever says nothing before it leases again. Of a rate
// nobody else could tell.
import type { Caller, CounterStore } from '../../../../src/accounts/limits/index.ts';

/** A store of which it is noted who claims, and when the ledger's word is taken. */
export function noting(
  store: CounterStore,
  note: (caller: Caller) => void,
  restores: () => void = () => {},
): CounterStore {
  return {
    take: (caller, ...said) => {
      note(caller);
      return store.take(caller, ...said);
    },
    restoring: (...said) => store.restoring(...said),
    async restored(...said) {
      const isTaken = await store.restored(...said);
      if (isTaken.includes(true)) restores();
      return isTaken;
    },
  };
}

interface User {
  /** Turn of its latest call. */
  readonly turn: number;
}

interface Use {
  readonly node: User;
  readonly isRunning: boolean;
}

export class Forgotten {
  /** Users without a call since the latest loss, and the latest call of each before it. */
  readonly #unreported = new Map<User, number>();
  readonly #uses = new Set<Use>();
  /** Uses that the store has leased again meanwhile: nobody makes up for that. */
  readonly #forGood = new Set<Use>();
  #settlesAt = 0;
  /** The latest call of each that was heard, and when. */
  readonly #received = new Map<User, { readonly turn: number; readonly atMs: number }>();
  /** Uses that ran when the ledger was read for the last time. */
  #unread: readonly Use[] = [];
  /** Uses of these that ran without a call when the ledger's word was taken: they come on top of the limit. */
  readonly #onTop = new Set<Use>();

  isOnTop(use: Use): boolean {
    return this.#onTop.has(use);
  }

  /** True when it runs on a process that no longer reports. */
  isAstray({ isRunning, node }: Use, nowMs: number, leaseMs: number): boolean {
    return isRunning && this.#isGone(node, nowMs, leaseMs);
  }

  /** The ledger is read. @param uses all so far */
  read(uses: readonly Use[]): void {
    this.#unread = uses.filter(({ isRunning }) => isRunning);
  }

  /** The ledger's word is taken: what ended since it was read is not in it. */
  restored(nowMs: number, leaseMs: number): void {
    for (const use of this.#unread) if (this.#isGone(use.node, nowMs, leaseMs)) this.#onTop.add(use);
  }

  has(use: Use): boolean {
    return this.#uses.has(use) || this.#forGood.has(use);
  }

  /** @param users everybody @param uses all so far @param settlesAt when the store leases again */
  lose(users: readonly User[], uses: readonly Use[], nowMs: number, settlesAt: number): void {
    if (nowMs >= this.#settlesAt) this.#giveUp(() => true);
    this.#settlesAt = settlesAt;
    for (const user of users) this.#unreported.set(user, user.turn);
    for (const use of uses) this.used(use);
  }

  used(use: Use): void {
    if (this.#unreported.has(use.node) && !this.#forGood.has(use)) this.#uses.add(use);
  }

  receive(node: User, turn: number, nowMs: number): void {
    if (turn > (this.#received.get(node)?.turn ?? 0)) this.#received.set(node, { turn, atMs: nowMs });
    const before = this.#unreported.get(node);
    if (before === undefined || turn <= before) return;
    this.#unreported.delete(node);
    if (nowMs >= this.#settlesAt) this.#giveUp((use) => use.node === node);
    for (const use of this.#uses) if (use.node === node) this.#uses.delete(use);
  }

  #isGone(node: User, nowMs: number, leaseMs: number): boolean {
    return (this.#received.get(node)?.atMs ?? -Infinity) + leaseMs <= nowMs;
  }

  #giveUp(which: (use: Use) => boolean): void {
    for (const use of this.#uses) {
      if (!which(use)) continue;
      this.#uses.delete(use);
      this.#forGood.add(use);
    }
  }
}
