// Shares limits among processes through a server of Valkey or Redis: one call of one script for any number of counters.
import type {
  Caller,
  Claim,
  Claimed,
  CounterPeriod,
  CounterStore,
  Lease,
  LedgerWord,
} from '../limits/index.ts';
import type { ServerLink } from './server.ts';
import { runShared } from './shared.ts';

/** Values for each lease in an answer. */
const WIDTH = 6;

export class ValkeyCounterStore implements CounterStore {
  readonly #server: ServerLink;
  readonly #leaseMs: number;

  constructor(server: ServerLink, leaseMs: number) {
    this.#server = server;
    this.#leaseMs = leaseMs;
  }

  async claim(caller: Caller, claims: readonly Claim[]): Promise<Claimed> {
    const [settlesInMs = 0, processes = 1, ...rest] = numbers(
      await this.#run('claim', caller, claims.flatMap(wordsOf)),
    );
    const leases = claims.map(({ counter, period }, at): Lease => {
      const [fence = 0, ceiling = 0, others = 0, fairShare = 0, needsLedger, wasTakenOver] = rest.slice(
        at * WIDTH,
        (at + 1) * WIDTH,
      );
      return {
        counter,
        period,
        fence,
        ceiling,
        others,
        fairShare,
        expiresAtMs: caller.nowMs + this.#leaseMs,
        needsLedger: needsLedger === 1,
        wasTakenOver: wasTakenOver === 1,
      };
    });
    return { leases, processes, settlesInMs };
  }

  async leave(caller: Caller, claims: readonly Claim[]): Promise<void> {
    await this.#run('leave', caller, claims.flatMap(wordsOf));
  }

  async restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]> {
    const words = counters.flatMap(({ counter, period }) => [counter, String(period)]);
    return numbers(await this.#run('restoring', caller, words)).map((fence) =>
      Number.isNaN(fence) ? null : fence,
    );
  }

  async restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]> {
    const said = words.flatMap(({ counter, period, fence, spent }) => [
      counter,
      ...[period, fence, spent].map(String),
    ]);
    return numbers(await this.#run('restored', caller, said)).map((done) => done === 1);
  }

  #run(operation: string, { holder, turn }: Caller, words: readonly string[]): Promise<unknown> {
    return runShared(this.#server, operation, this.#leaseMs, [holder, String(turn), ...words]);
  }
}

function wordsOf(claim: Claim): readonly string[] {
  const { counter, period, limit, used, settled, need, want, lingersMs, reviewMs, fence } = claim;
  const amounts = [period, limit, used, settled, need, want, lingersMs ?? '', reviewMs ?? '', fence];
  return [counter, ...amounts.map(String)];
}

/** The numbers of an answer; NaN where one is empty. */
function numbers(answer: unknown): readonly number[] {
  if (!Array.isArray(answer)) throw new Error('the server of counters answered with something else');
  return answer.map((value) => (value === '' ? Number.NaN : Number(value)));
}
