// Counter store on Valkey or Redis. One script call serves any number of requests.
import type {
  Answered,
  Caller,
  Cell,
  CounterPeriod,
  CounterStore,
  LedgerWord,
  Wanted,
} from '../../accounts/limits/index.ts';
import type { ServerLink } from './server.ts';
import { runShared } from './shared.ts';
import type { DurationMs } from '../../base/units.ts';

export class ValkeyCounterStore implements CounterStore {
  readonly #server: ServerLink;
  readonly #leaseMs: DurationMs;

  /** @param leaseMs milliseconds without a call after which a process counts as dead */
  constructor(server: ServerLink, leaseMs: DurationMs) {
    this.#server = server;
    this.#leaseMs = leaseMs;
  }

  async take(
    caller: Caller,
    cells: readonly Cell[],
    requests: readonly (readonly Wanted[])[],
  ): Promise<Answered> {
    const words = [
      ...[caller.lastReplyAtMs, cells.length, requests.length].map(String),
      ...cells.flatMap(wordsOfCell),
      ...requests.flatMap((wanted) => [String(wanted.length), ...wanted.flatMap(requestArguments)]),
    ];
    const [head, states, granted] = listOf(await this.#run('take', caller, words));
    const [atMs = 0, isAway, epoch = 0, processes = 1, settlesInMs = 0] = listOf(head).map(Number);
    const numbers = listOf(states).map(Number);
    return {
      atMs,
      isAway: isAway === 1,
      epoch,
      processes,
      settlesInMs,
      states: cells.slice(0, numbers.length / 2).map((_, at) => {
        const flags = numbers[2 * at + 1] ?? 0;
        return { total: numbers[2 * at] ?? 0, needsLedger: flags % 2 === 1, isUnknown: flags >= 2 };
      }),
      granted: listOf(granted).map((one) => (Array.isArray(one) ? one.map(Number) : Number(one))),
    };
  }

  async restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]> {
    const words = counters.flatMap(({ counter, period }) => [counter, String(period)]);
    return listOf(await this.#run('restoring', caller, words)).map((fence) =>
      fence === '' ? null : Number(fence),
    );
  }

  async restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]> {
    const said = words.flatMap(({ counter, period, fence, sums }) => [
      counter,
      ...[period, fence, sums.length, ...sums.flatMap(({ amount, ageMs }) => [amount, ageMs])].map(String),
    ]);
    return listOf(await this.#run('restored', caller, said)).map((done) => Number(done) === 1);
  }

  #run(operation: string, { holder, turn }: Caller, words: readonly string[]): Promise<unknown> {
    return runShared(this.#server, operation, this.#leaseMs, [holder, String(turn), ...words]);
  }
}

function wordsOfCell({ counter, period, windowMs, isInLedger, cell, ...one }: Cell): readonly string[] {
  const kept = [String(period), String(windowMs ?? -1), isInLedger ? '1' : '0'];
  return [counter, ...kept, cell, ...[one.used, one.settled, one.isOpen ? 1 : 0, one.ageMs].map(String)];
}

function requestArguments({ at, limit, need, want, clips }: Wanted): readonly string[] {
  return [at, limit, need, want, clips ? 1 : 0].map(String);
}

function listOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new Error('The counter server did not respond with a list.');
  return answer;
}
