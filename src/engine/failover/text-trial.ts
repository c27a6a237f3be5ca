// Text requests at several candidates: where each answer goes, and how an interrupted one is completed.
import { type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { estimatedInputTokens } from '../../accounts/ledger/index.ts';
import { BufferedAnswer } from '../answer/index.ts';
import type { AttemptOutput } from '../attempt/index.ts';
import { actionFor, isOwnRefusal } from '../failure-table.ts';
import type { Candidate } from '../routing/index.ts';
import { mayBeAsked, type Trial, type TryTerms } from './candidate-queue.ts';
import { ContinuableOutput, isContinuable } from './continuation.ts';
import { tryCandidates } from './failover.ts';
import type { TextInput } from './text-try.ts';
import { hasOpaqueReasoning, refusesReasoning, withoutUnreadable } from './unreadable-reasoning.ts';
import { tryText } from './try-text.ts';

/** Tries the candidates of a plan for text. @returns undefined when one answered, otherwise the error for the client */
export function tryForText(input: TextInput): Promise<GatewayError | undefined> {
  return tryCandidates(new TextTrial(input), input);
}

class TextTrial implements Trial {
  readonly #input: TextInput;
  /** Present when another endpoint may complete an interrupted answer. */
  readonly #continuable: ContinuableOutput | null;
  /** Endpoints that refused reasoning of another account. */
  readonly #unable = new Set<Endpoint>();

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
    return this.#input.learned.learn(endpoint, error) || this.#learnUnreadable(endpoint, error);
  }

  try(candidate: Candidate, terms: TryTerms): Promise<GatewayError | undefined> {
    return this.#try(candidate, terms, this.#input.planned.request, this.#output());
  }

  /** Only for this request, because a later one may contain other reasoning. */
  #learnUnreadable(endpoint: Endpoint, error: GatewayError): boolean {
    if (!refusesReasoning(error) || this.#unable.has(endpoint)) return false;
    if (!hasOpaqueReasoning(this.#input.planned.request, endpoint)) return false;
    this.#unable.add(endpoint);
    return true;
  }

  async resume(
    broken: Candidate,
    error: GatewayError,
    others: readonly Candidate[],
  ): Promise<GatewayError | undefined> {
    const { deps, planned, learned, cancellation } = this.#input;
    if (isOwnRefusal(error)) return error;
    const out = this.#continuable;
    // The endpoint that was interrupted is tried last, unless it timed out.
    const again = actionFor(error) === 'retry' ? [broken] : [];
    for (const candidate of [...others, ...again]) {
      if (!out?.canContinue || cancellation.reason || deps.clock.now() >= planned.deadlineAt) break;
      const { endpoint } = candidate;
      if (!mayBeAsked(endpoint, deps) || (out.needsPrefill && !learned.takesPrefill(endpoint))) continue;
      const asked = out.continuationRequest(planned.request);
      const begun = out.produced();
      const output = out.continued(endpoint.quirks.prefill === 'prefix');
      const terms = { cancellation, others: NO_OTHERS };
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
    const { endpoint } = candidate;
    const isUnable = this.#unable.has(endpoint);
    const readable = isUnable ? withoutUnreadable(request, endpoint, this.#input.deps.routing) : request;
    const translate = this.#input.translate || this.#continuable !== null || isUnable;
    return tryText({ input: this.#input, candidate, terms, request: readable, output, translate });
  }

  /** Output of the next try: directly to the client, or buffered until complete. */
  #output(): AttemptOutput {
    const { answer, planned } = this.#input;
    if (this.#continuable) return this.#continuable;
    return planned.request.stream && planned.plan.wishes.streamSafety === 'buffer'
      ? new BufferedAnswer(answer, planned.arrival.call.account)
      : answer;
  }
}

const NO_OTHERS: TryTerms['others'] = { hasUntried: false };
