// The tries of one request, whatever it asks for: starts them, races them, interrupts them. When to try whom is decided
// in `failover.ts`, what a try does by whoever extends this.
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { contextOf, mayHold, shownContext } from '../../routing/index.ts';
import type { Candidate, Overflow, Plan } from '../../routing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { type FailedTry, type FailoverHost, tryCandidates } from './failover.ts';
import type { Generation } from '../generation.ts';
import { race, type RunningTry } from './race.ts';

export interface TryRunnerInput {
  readonly deps: GatewayDependencies;
  readonly generation: Generation;
  readonly plan: Plan;
}

export abstract class TryRunner implements FailoverHost {
  readonly #input: TryRunnerInput;
  readonly #running = new Set<RunningTry>();
  #interruption: GatewayError | undefined;
  #wake: (() => void) | undefined;

  constructor(input: TryRunnerInput) {
    this.#input = input;
  }

  abstract committed(): boolean;
  /** Tokens of the request and of the answer that it asks for, by our estimate. */
  protected abstract neededTokens(): number;
  abstract learn(endpoint: Endpoint, error: GatewayError): boolean;
  abstract resume(broken: FailedTry, others: readonly Candidate[]): Promise<GatewayError | undefined>;
  /**
   * Starts a try of the whole request.
   * @param claim to be called right before the client could see anything of it
   */
  protected abstract start(candidate: Candidate, claim: () => void, hasOthers: () => boolean): RunningTry;

  /** @returns undefined when a candidate answered, else the error for the client */
  run(): Promise<GatewayError | undefined> {
    return tryCandidates(this.#input.plan, this);
  }

  /** Stops whatever runs; `error` is the outcome. */
  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    for (const running of this.#running) running.cancel(error);
    this.#wake?.();
  }

  interruption(): GatewayError | undefined {
    return this.#interruption;
  }

  get retries(): number {
    return this.#input.generation.settings.config.routing.retries;
  }

  get waitsForLimits(): boolean {
    return this.#input.generation.settings.config.routing.rateLimited === 'wait';
  }

  get deadlineAt(): number {
    return this.#input.generation.deadlineAt;
  }

  now(): number {
    return this.#input.deps.clock.now();
  }

  random(): number {
    return this.#input.deps.random();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#input.deps.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  admits(endpoint: Endpoint): boolean {
    return this.#input.deps.routing.admits(endpoint);
  }

  overflowed(endpoint: Endpoint, error: GatewayError): (other: Endpoint) => boolean {
    const { routing } = this.#input.deps;
    const needed = this.neededTokens();
    const overflow = (of: Endpoint): Overflow => ({
      modelId: of.modelId,
      contextLength: contextOf(of, routing.health(of), this.now()),
    });
    const refused = overflow(endpoint);
    // Our own refusals follow from what is known already.
    const shown = error.upstream ? shownContext(error.message, needed) : null;
    if (shown !== null) routing.learnContext(endpoint, shown);
    return (other) => mayHold(overflow(other), refused, needed);
  }

  async tryOne(
    candidate: Candidate,
    takeNext: () => Candidate | undefined,
    hasOthers: () => boolean,
  ): Promise<readonly FailedTry[]> {
    const { deps, plan, generation } = this.#input;
    const streamed = generation.request?.stream === true;
    const patienceMs =
      plan.wishes.hedge === true ? deps.routing.health(candidate.endpoint).p95Ms(streamed) : null;
    let failed: readonly FailedTry[];
    if (patienceMs === null) {
      const error = await this.#started(candidate, () => {}, hasOthers).done;
      failed = error ? [{ candidate, error }] : [];
    } else {
      const start = (entrant: Candidate, claim: () => void): RunningTry =>
        this.#started(entrant, claim, hasOthers);
      failed = await race(candidate, { clock: deps.clock, patienceMs, start, takeNext });
    }
    if (failed.length > 0 && !this.committed()) {
      generation.served = undefined;
      // What was told went no further than a buffer.
      generation.told = false;
    }
    return failed;
  }

  /** Remembers a try, to be cancelled with the others. One that rejects has failed: the next candidate may answer. */
  protected watch(running: RunningTry): RunningTry {
    const watched: RunningTry = {
      done: running.done.catch(GatewayError.from),
      cancel: (reason) => running.cancel(reason),
    };
    this.#running.add(watched);
    void watched.done.then(() => this.#running.delete(watched));
    return watched;
  }

  #started(candidate: Candidate, claim: () => void, hasOthers: () => boolean): RunningTry {
    return this.watch(this.start(candidate, claim, hasOthers));
  }
}
