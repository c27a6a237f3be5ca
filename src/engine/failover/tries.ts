// The tries of one request for text: where the answer of each goes, and who completes one that broke off.
import type { CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { estimatedInputTokens } from '../../ledger/index.ts';
import type { Candidate } from '../../routing/index.ts';
import type { AttemptOutput, LearnedRefusals } from '../attempt/index.ts';
import { CandidateTry, type TryOptions } from './candidate-try.ts';
import { BufferedAnswer, type ClientAnswer } from '../answer/index.ts';
import { ContinuableOutput, isContinuable } from './continuation.ts';
import type { FailedTry } from './failover.ts';
import { actionFor, isOwnRefusal } from '../failure-table.ts';
import type { RunningTry } from './race.ts';
import { TryRunner, type TryRunnerInput } from './try-runner.ts';

export interface TriesInput extends TryRunnerInput {
  readonly learned: LearnedRefusals;
  readonly request: CanonicalRequest;
  readonly answer: AttemptOutput & Pick<ClientAnswer, 'committed'>;
  /** The request as an endpoint gets it; absent: as it is. */
  readonly fit?: TryOptions['fit'];
  /** True: the client's own bytes are not what is asked. */
  readonly translate?: boolean;
}

export class Tries extends TryRunner {
  readonly #input: TriesInput;
  /** Set where another endpoint may complete an answer that breaks off. */
  readonly #continuable: ContinuableOutput | null;

  constructor(input: TriesInput) {
    super(input);
    this.#input = input;
    const { plan, request, answer } = input;
    const wanted = plan.wishes.streamSafety === 'continue' && plan.failover;
    this.#continuable = wanted && isContinuable(request) ? new ContinuableOutput(answer) : null;
  }

  committed(): boolean {
    return this.#input.answer.committed;
  }

  protected neededTokens(): number {
    const { request } = this.#input;
    return estimatedInputTokens(request) + (request.maxOutputTokens ?? 0);
  }

  learn(endpoint: Endpoint, error: GatewayError): boolean {
    return this.#input.learned.learn(endpoint, error);
  }

  async resume(broken: FailedTry, others: readonly Candidate[]): Promise<GatewayError | undefined> {
    const { learned, request } = this.#input;
    if (isOwnRefusal(broken.error)) return broken.error;
    const out = this.#continuable;
    // The one that broke off comes last, unless it fell silent: a silent endpoint is not tried twice.
    const again = actionFor(broken.error) === 'retry' ? [broken.candidate] : [];
    for (const candidate of [...others, ...again]) {
      if (!out?.canContinue || this.interruption() || this.now() >= this.deadlineAt) break;
      const { endpoint } = candidate;
      if (!this.admits(endpoint) || (out.needsPrefill && !learned.takesPrefill(endpoint))) continue;
      const asked = out.continuationRequest(request);
      const output = out.continued(endpoint.quirks.prefill === 'prefix');
      const started = this.#start(
        candidate,
        () => {},
        () => false,
        asked,
        output,
      );
      const error = await this.watch(started).done;
      if (!error) return undefined;
      if (asked.prefill) learned.learnPrefill(endpoint, error);
    }
    return this.interruption() ?? broken.error;
  }

  protected start(candidate: Candidate, claim: () => void, hasOthers: () => boolean): RunningTry {
    return this.#start(candidate, claim, hasOthers, this.#input.request, this.#output());
  }

  #start(
    candidate: Candidate,
    claim: () => void,
    hasOthers: () => boolean,
    request: CanonicalRequest,
    output: AttemptOutput,
  ): CandidateTry {
    const { deps, generation, plan, learned, fit, translate = false } = this.#input;
    return new CandidateTry({
      deps,
      generation,
      plan,
      request,
      candidate,
      learned,
      translate: translate || this.#continuable !== null,
      output,
      claim,
      hasOthers,
      fit,
    });
  }

  /** Where the next try's answer goes: to the client at once, or only when it is complete. */
  #output(): AttemptOutput {
    const { answer, plan, request } = this.#input;
    if (this.#continuable) return this.#continuable;
    return request.stream && plan.wishes.streamSafety === 'buffer'
      ? new BufferedAnswer(answer, this.#input.generation.call.account)
      : answer;
  }
}
