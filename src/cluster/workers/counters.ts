// Limits shared between workers, stored in the supervisor's memory.
import type {
  Answered,
  Caller,
  Cell,
  CounterPeriod,
  CounterStore,
  LedgerWord,
  Wanted,
} from '../../accounts/limits/index.ts';
import type { Channel } from './channel.ts';
import type { UnixMs } from '../../base/units.ts';

type Calls = { readonly [Call in keyof CounterStore]: Parameters<CounterStore[Call]> };

const PREFIX = 'counters ';

/** A worker's client for the supervisor's store. */
export class SupervisorCounterStore implements CounterStore {
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  take(caller: Caller, cells: readonly Cell[], requests: readonly (readonly Wanted[])[]): Promise<Answered> {
    return this.#ask('take', [caller, cells, requests]) as Promise<Answered>;
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

/**
 * The supervisor's handlers for it. They use the supervisor's clock, because monotonic clocks of workers differ.
 * @param now monotonic milliseconds
 */
export function counterAnswers(
  store: CounterStore,
  now: () => UnixMs,
): Readonly<Record<string, (input: unknown) => unknown>> {
  const here = (caller: Caller): Caller => ({ ...caller, nowMs: now() });
  const answer = <Call extends keyof Calls>(call: Call, run: (...input: Calls[Call]) => unknown) => [
    PREFIX + call,
    (input: unknown) => run(...(input as Calls[Call])),
  ];
  return Object.fromEntries([
    answer('take', (caller, ...said) => store.take(here(caller), ...said)),
    answer('restoring', (caller, counters) => store.restoring(here(caller), counters)),
    answer('restored', (caller, words) => store.restored(here(caller), words)),
  ]) as Readonly<Record<string, (input: unknown) => unknown>>;
}
