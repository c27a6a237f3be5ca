// The tries of one request: starts them, races them, interrupts them. When to try whom is decided in `failover.ts`.
import type { CanonicalRequest, GatewayError } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import type { Candidate, Plan } from '../routing/index.ts';
import type { AttemptOutput } from './attempt-options.ts';
import { CandidateTry } from './candidate-try.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { ContinuableOutput, isContinuable } from './continuation.ts';
import { type FailedTry, type FailoverHost, tryCandidates } from './failover.ts';
import type { Generation } from './generation.ts';
import { actionFor } from './failure-table.ts';
import { BufferedAnswer } from './held-answer.ts';
import type { LearnedRefusals } from './learned-refusals.ts';
import { race, type RunningTry } from './race.ts';

export interface TriesInput {
  readonly deps: GatewayDependencies;
  readonly generation: Generation;
  readonly learned: LearnedRefusals;
  readonly request: CanonicalRequest;
  readonly plan: Plan;
  readonly answer: ClientAnswer;
}

export class Tries implements FailoverHost {
  readonly #input: TriesInput;
  readonly #running = new Set<CandidateTry>();
  /** Set where another endpoint may complete an answer that breaks off. */
  readonly #continuable: ContinuableOutput | null;
  #interruption: GatewayError | undefined;
  #wake: (() => void) | undefined;

  constructor(input: TriesInput) {
    this.#input = input;
    const { plan, request, answer } = input;
    const wanted = plan.wishes.streamSafety === 'continue' && plan.failover;
    this.#continuable = wanted && isContinuable(request) ? new ContinuableOutput(answer) : null;
  }

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
    return this.#input.generation.settings.retries;
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

  committed(): boolean {
    return this.#input.answer.committed;
  }

  admits(endpoint: Endpoint): boolean {
    return this.#input.deps.routing.admits(endpoint);
  }

  learn(endpoint: Endpoint, error: GatewayError): boolean {
    return this.#input.learned.learn(endpoint, error);
  }

  async tryOne(candidate: Candidate, takeNext: () => Candidate | undefined): Promise<readonly FailedTry[]> {
    const { deps, plan, request, generation } = this.#input;
    const patienceMs =
      plan.wishes.hedge === true ? deps.routing.health(candidate.endpoint).p95Ms(request.stream) : null;
    let failed: readonly FailedTry[];
    if (patienceMs === null) {
      const error = await this.#first(candidate, () => {}).done;
      failed = error ? [{ candidate, error }] : [];
    } else {
      const start = (entrant: Candidate, claim: () => void): RunningTry => this.#first(entrant, claim);
      failed = await race(candidate, { clock: deps.clock, patienceMs, start, takeNext });
    }
    if (failed.length > 0 && !this.committed()) {
      generation.served = undefined;
      // What was told went no further than a buffer.
      generation.told = false;
    }
    return failed;
  }

  async resume(broken: FailedTry, others: readonly Candidate[]): Promise<GatewayError | undefined> {
    const { learned, request } = this.#input;
    const out = this.#continuable;
    // The one that broke off comes last, unless it fell silent: a silent endpoint is not tried twice.
    const again = actionFor(broken.error) === 'retry' ? [broken.candidate] : [];
    for (const candidate of [...others, ...again]) {
      if (!out?.canContinue || this.#interruption || this.now() >= this.deadlineAt) break;
      const { endpoint } = candidate;
      if (!this.admits(endpoint) || (out.needsPrefill && !learned.takesPrefill(endpoint))) continue;
      const asked = out.continuationRequest(request);
      const output = out.continued(endpoint.quirks.prefill === 'prefix');
      const error = await this.#start(candidate, () => {}, asked, output).done;
      if (!error) return undefined;
      if (asked.prefill) learned.learnPrefill(endpoint, error);
    }
    return this.#interruption ?? broken.error;
  }

  #first(candidate: Candidate, claim: () => void): CandidateTry {
    return this.#start(candidate, claim, this.#input.request, this.#output());
  }

  #start(
    candidate: Candidate,
    claim: () => void,
    request: CanonicalRequest,
    output: AttemptOutput,
  ): CandidateTry {
    const { deps, generation, plan, learned } = this.#input;
    const started = new CandidateTry({
      deps,
      generation,
      plan,
      request,
      candidate,
      learned,
      translate: this.#continuable !== null,
      output,
      claim,
    });
    this.#running.add(started);
    void started.done.then(() => this.#running.delete(started));
    return started;
  }

  /** Where the next try's answer goes: to the client at once, or only when it is complete. */
  #output(): AttemptOutput {
    const { answer, plan, request } = this.#input;
    if (this.#continuable) return this.#continuable;
    return request.stream && plan.wishes.streamSafety === 'buffer' ? new BufferedAnswer(answer) : answer;
  }
}
