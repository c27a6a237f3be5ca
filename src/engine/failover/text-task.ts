// A request for text, as it is tried at one candidate after the other: where the answer of each goes, and who completes
// one that broke off.
import { type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { estimatedInputTokens } from '../../accounts/ledger/index.ts';
import type { Candidate } from '../routing/index.ts';
import type { Admitted, Planned } from '../admit/index.ts';
import { BufferedAnswer, type ClientAnswer } from '../answer/index.ts';
import type { AttemptOutput, LearnedRefusals } from '../attempt/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { actionFor, isOwnRefusal } from '../failure-table.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { mayBeAsked } from './candidate-queue.ts';
import { ContinuableOutput, isContinuable } from './continuation.ts';
import { tryCandidates } from './failover.ts';
import type { Trial, TryTerms } from './trial.ts';
import { tryText } from './try-text.ts';

export interface TextInput {
  readonly deps: GatewayDependencies;
  readonly admitted: Admitted;
  /** Request and endpoints: the whole request, or one turn of it. */
  readonly planned: Planned;
  readonly attemptLog: AttemptLog;
  readonly learned: LearnedRefusals;
  /** Cancellation of the whole request. */
  readonly cancellation: Cancellation;
  readonly answer: AttemptOutput & Pick<ClientAnswer, 'committed'>;
  /** The request as an endpoint gets it, where tools of the gateway take the place of others; absent: as it is. */
  readonly fit?: (request: CanonicalRequest, endpoint: Endpoint) => Promise<CanonicalRequest>;
  /** True: the client's own bytes are not what is asked. */
  readonly translate: boolean;
}

/** Tries the candidates of a plan for text. @returns undefined when one answered, else the error for the client */
export function tryForText(input: TextInput): Promise<GatewayError | undefined> {
  return tryCandidates(new TextTask(input), input);
}

class TextTask implements Trial {
  readonly #input: TextInput;
  /** Set where another endpoint may complete an answer that breaks off. */
  readonly #continuable: ContinuableOutput | null;

  constructor(input: TextInput) {
    this.#input = input;
    const { plan, request } = input.planned;
    const wanted = plan.wishes.streamSafety === 'continue' && plan.failover;
    this.#continuable = wanted && isContinuable(request) ? new ContinuableOutput(input.answer) : null;
  }

  get committed(): boolean {
    return this.#input.answer.committed;
  }

  neededTokens(): number {
    const { request } = this.#input.planned;
    return estimatedInputTokens(request) + (request.maxOutputTokens ?? 0);
  }

  learn(endpoint: Endpoint, error: GatewayError): boolean {
    return this.#input.learned.learn(endpoint, error);
  }

  try(candidate: Candidate, terms: TryTerms): Promise<GatewayError | undefined> {
    return this.#try(candidate, terms, this.#input.planned.request, this.#output());
  }

  async resume(
    broken: Candidate,
    error: GatewayError,
    others: readonly Candidate[],
  ): Promise<GatewayError | undefined> {
    const { deps, planned, learned, cancellation } = this.#input;
    if (isOwnRefusal(error)) return error;
    const out = this.#continuable;
    // The one that broke off comes last, unless it fell silent: a silent endpoint is not tried twice.
    const again = actionFor(error) === 'retry' ? [broken] : [];
    for (const candidate of [...others, ...again]) {
      if (!out?.canContinue || cancellation.reason || deps.clock.now() >= planned.deadlineAt) break;
      const { endpoint } = candidate;
      if (!mayBeAsked(endpoint, deps) || (out.needsPrefill && !learned.takesPrefill(endpoint))) continue;
      const asked = out.continuationRequest(planned.request);
      const begun = out.produced();
      const output = out.continued(endpoint.quirks.prefill === 'prefix');
      const terms = { cancellation, others: NOBODY };
      const failure = await this.#try(candidate, terms, asked, output).catch(GatewayError.from);
      if (!failure) {
        this.#input.attemptLog.completed(begun);
        return undefined;
      }
      if (asked.prefill) learned.learnPrefill(endpoint, failure);
    }
    return cancellation.reason ?? error;
  }

  #try(
    candidate: Candidate,
    terms: TryTerms,
    request: CanonicalRequest,
    output: AttemptOutput,
  ): Promise<GatewayError | undefined> {
    const translate = this.#input.translate || this.#continuable !== null;
    return tryText({ input: this.#input, candidate, terms, request, output, translate });
  }

  /** Destination of the next try's answer: the client at once, or only when it is complete. */
  #output(): AttemptOutput {
    const { answer, planned } = this.#input;
    if (this.#continuable) return this.#continuable;
    return planned.request.stream && planned.plan.wishes.streamSafety === 'buffer'
      ? new BufferedAnswer(answer, planned.arrival.call.account)
      : answer;
  }
}

const NOBODY: TryTerms['others'] = { hasUntried: false };
