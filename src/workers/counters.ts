// Limits that workers share: kept by the supervisor, in its memory, and asked for by the workers.
import type { Caller, Claim, Claimed, CounterPeriod, CounterStore, LedgerWord } from '../limits/index.ts';
import type { Channel } from './channel.ts';

type Calls = { readonly [Call in keyof CounterStore]: Parameters<CounterStore[Call]> };

const PREFIX = 'counters ';

/** The store of the supervisor, as a worker has it. */
export class SupervisorCounterStore implements CounterStore {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  claim(caller: Caller, claims: readonly Claim[]): Promise<Claimed> {
    return this.#ask('claim', [caller, claims]) as Promise<Claimed>;
  }

  async leave(caller: Caller, claims: readonly Claim[]): Promise<void> {
    await this.#ask('leave', [caller, claims]);
  }

  restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]> {
    return this.#ask('restoring', [caller, counters]) as Promise<readonly (number | null)[]>;
  }

  restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]> {
    return this.#ask('restored', [caller, words]) as Promise<readonly boolean[]>;
  }

  #ask<Call extends keyof Calls>(call: Call, input: Calls[Call]): Promise<unknown> {
    return this.#channel.ask(PREFIX + call, input);
  }
}

/** What a supervisor answers to those. */
export function counterAnswers(store: CounterStore): Readonly<Record<string, (input: unknown) => unknown>> {
  const answer = <Call extends keyof Calls>(call: Call, run: (...input: Calls[Call]) => unknown) => [
    PREFIX + call,
    (input: unknown) => run(...(input as Calls[Call])),
  ];
  return Object.fromEntries([
    answer('claim', (caller, claims) => store.claim(caller, claims)),
    answer('leave', (caller, claims) => store.leave(caller, claims)),
    answer('restoring', (caller, counters) => store.restoring(caller, counters)),
    answer('restored', (caller, words) => store.restored(caller, words)),
  ]) as Readonly<Record<string, (input: unknown) => unknown>>;
}
