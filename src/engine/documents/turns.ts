// Queue with limited concurrency that is fair between requests, however much work each has.
import { GatewayError } from '../../canonical/index.ts';

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: GatewayError) => void;
}

export class Turns {
  readonly #concurrency: number;
  readonly #mostWaiting: number;
  readonly #what: string;
  #running = 0;
  #size = 0;
  /** Queued work, by request. The first request is next. */
  readonly #waiting = new Map<AbortSignal, Waiting[]>();

  /**
   * @param mostWaiting maximum queue length; beyond it, the request with the most queued work loses one piece
   * @param what for the error message: the work that there is too much of
   */
  constructor(abreast: number, mostWaiting: number, what: string) {
    this.#concurrency = abreast;
    this.#mostWaiting = mostWaiting;
    this.#what = what;
  }

  /**
   * Runs the work when its turn comes.
   * @param request aborted: the work is not run. Work with the same signal belongs to the same request
   * @throws GatewayError `cancelled`, or `rate_limited` when the queue is full
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
    if (this.#running < this.#concurrency) {
      this.#running++;
      return;
    }
    const others = this.#waiting.get(request) ?? [];
    this.#makeRoom(others.length);
    let leave = (): void => {};
    try {
      await new Promise<void>((begin, refuse) => {
        leave = () => {
          // Removes all other queued work of this request.
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

  /** @param has number of pieces that the new work's request already has in the queue */
  #makeRoom(has: number): void {
    if (this.#size < this.#mostWaiting) return;
    let most: Waiting[] = [];
    for (const waiting of this.#waiting.values()) if (waiting.length > most.length) most = waiting;
    if (most.length <= has + 1) throw this.#busy();
    this.#size--;
    most.pop()?.refuse(this.#busy());
  }

  #busy(): GatewayError {
    return new GatewayError('rate_limited', `Too many ${this.#what}. Try again in a moment.`, {
      fault: 'gateway',
      retryAfterMs: 1000,
    });
  }

  /** Starts the next work; its request moves to the end of the queue. */
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
  return new GatewayError('cancelled', 'The request was cancelled.');
}
