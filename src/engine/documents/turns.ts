// A queue in which few may work at a time: requests take turns, however much work each of them wants done. Knows
// nothing of the work.
import { GatewayError } from '../../canonical/index.ts';

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: GatewayError) => void;
}

export class Turns {
  readonly #abreast: number;
  readonly #mostWaiting: number;
  readonly #what: string;
  #running = 0;
  #size = 0;
  /** Waiting work by request; the first request is next. */
  readonly #waiting = new Map<AbortSignal, Waiting[]>();

  /**
   * @param mostWaiting beyond these, the request that wants most gives one up
   * @param what is told to it: what there is too much of
   */
  constructor(abreast: number, mostWaiting: number, what: string) {
    this.#abreast = abreast;
    this.#mostWaiting = mostWaiting;
    this.#what = what;
  }

  /**
   * Does the work when its turn has come.
   * @param request aborted: it waits no longer. Work with the same signal is of the same request
   * @throws GatewayError `cancelled`, or `rate_limited` when too much waits
   */
  async run<T>(request: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(request);
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  async #turn(request: AbortSignal): Promise<void> {
    if (request.aborted) throw cancelled();
    if (this.#running < this.#abreast) {
      this.#running++;
      return;
    }
    const others = this.#waiting.get(request) ?? [];
    this.#makeRoom(others.length);
    let leave = (): void => {};
    try {
      await new Promise<void>((begin, refuse) => {
        leave = () => {
          // Every other that waits of this request leaves, too.
          this.#size -= this.#waiting.get(request)?.length ?? 0;
          this.#waiting.delete(request);
          refuse(cancelled());
        };
        request.addEventListener('abort', leave);
        others.push({ begin, refuse });
        this.#waiting.set(request, others);
        this.#size++;
      });
    } finally {
      request.removeEventListener('abort', leave);
    }
  }

  /** @param has of the one that comes: how much of its request waits already */
  #makeRoom(has: number): void {
    if (this.#size < this.#mostWaiting) return;
    let most: Waiting[] = [];
    for (const waiting of this.#waiting.values()) if (waiting.length > most.length) most = waiting;
    if (most.length <= has + 1) throw this.#busy();
    this.#size--;
    most.pop()?.refuse(this.#busy());
  }

  #busy(): GatewayError {
    return new GatewayError('rate_limited', `too many ${this.#what}; try again in a moment`, {
      fault: 'gateway',
      retryAfterMs: 1000,
    });
  }

  /** Hands the place of finished work on; the request that gets it goes behind the others. */
  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running--;
      return;
    }
    const [request, waiting] = next;
    const first = waiting.shift();
    this.#size--;
    this.#waiting.delete(request);
    if (waiting.length > 0) this.#waiting.set(request, waiting);
    first?.begin();
  }
}

function cancelled(): GatewayError {
  return new GatewayError('cancelled', 'nobody waits for this any longer');
}
