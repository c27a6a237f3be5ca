// One try at one candidate: the attempt whose answer goes to the client, or the attempts whose answer is checked first
// and repaired once.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { cacheLifeMs, contextOf, type Candidate, type Plan } from '../../routing/index.ts';
import { judge, overlong, prepareSchema, schemaToPrepare, truncate } from '../adapt/index.ts';
import {
  Attempt,
  type AttemptOutput,
  type LearnedRefusals,
  prepareAttempt,
  type PreparedText,
  prepareRepair,
  runAttempt,
} from '../attempt/index.ts';
import { CheckedOutput, HeldAnswer } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { emptyAnswer } from './empty-answer.ts';
import type { Generation } from '../generation.ts';
import { fetchMedia, needsReading, pointsElsewhere, readDocuments } from '../media/index.ts';

export interface TryOptions {
  readonly deps: GatewayDependencies;
  readonly generation: Generation;
  readonly plan: Plan;
  readonly request: CanonicalRequest;
  readonly candidate: Candidate;
  readonly learned: LearnedRefusals;
  /** True: the answer must pass through our hands, although it could be relayed. */
  readonly translate: boolean;
  readonly output: AttemptOutput;
  /** Called right before the client could see anything of this try. */
  readonly claim: () => void;
  /** True while another endpoint has not been asked. */
  readonly hasOthers: () => boolean;
  /** The request as an endpoint gets it, where tools of the gateway take the place of others; absent: as it is. */
  readonly fit?: ((request: CanonicalRequest, endpoint: Endpoint) => Promise<CanonicalRequest>) | undefined;
}

export class CandidateTry {
  readonly done: Promise<GatewayError | undefined>;
  readonly #options: TryOptions;
  #current: Attempt | undefined;
  #cancelled: GatewayError | undefined;
  /** Of files that are being read, and of schemas and answers that are being checked. */
  #reading: AbortController | undefined;
  /** Set while something else than an attempt is waited for. */
  #giveUp: (() => void) | undefined;

  /** Starts at once. */
  constructor(options: TryOptions) {
    this.#options = options;
    this.done = this.#run().catch((thrown: unknown) => GatewayError.from(thrown));
  }

  cancel(reason: GatewayError): void {
    this.#cancelled ??= reason;
    this.#current?.cancel(reason);
    this.#giveUp?.();
    this.#reading?.abort();
  }

  readonly #isOver = (): boolean => this.#cancelled !== undefined;

  #readingSignal(): AbortSignal {
    return (this.#reading ??= new AbortController()).signal;
  }

  /** Undefined when this try is cancelled before. */
  async #orCancelled<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.#cancelled) return undefined;
    return Promise.race([
      work,
      new Promise<undefined>((resolve) => (this.#giveUp = () => resolve(undefined))),
    ]);
  }

  async #run(): Promise<GatewayError | undefined> {
    const { deps, generation, candidate, learned, translate, output, fit } = this.#options;
    const asked = this.#options.request;
    const fitted = fit ? await this.#orCancelled(fit(asked, candidate.endpoint)) : asked;
    if (!fitted) return this.#cancelled;
    let pointing = fitted;
    let omitted = 0;
    const { endpoint } = candidate;
    const contextLength = contextOf(endpoint, deps.routing.health(endpoint), deps.clock.now());
    if (pointing.state?.truncation === 'auto')
      ({ request: pointing, omitted } = await truncate(pointing, contextLength, this.#isOver));
    else if (pointing.state) {
      const refusal = await overlong(pointing, contextLength, this.#isOver);
      if (refusal) return refusal;
    }
    if (this.#cancelled) return this.#cancelled;
    let request: CanonicalRequest | undefined = pointing;
    if (pointsElsewhere(pointing))
      request = await this.#orCancelled(
        fetchMedia(pointing, candidate.endpoint, generation.fetched, deps.media, generation.call.account),
      );
    if (request && needsReading(request, candidate.endpoint)) {
      const signal = this.#readingSignal();
      request = await this.#orCancelled(
        readDocuments(request, candidate.endpoint, generation.documents, signal),
      );
    }
    if (!request) return this.#cancelled;
    const schema = schemaToPrepare(request, {
      structuredOutput: candidate.endpoint.quirks.structuredOutput,
      faithful: candidate.endpoint.faithful,
    });
    if (schema) await this.#orCancelled(prepareSchema(schema, this.#readingSignal()));
    if (this.#cancelled) return this.#cancelled;
    const prepared = prepareAttempt({
      request,
      clientBytes: generation.call.body,
      endpoint: candidate.endpoint,
      strict: generation.strict,
      translate: translate || generation.needsTranslation || request !== pointing || fitted !== asked,
      learned,
    });
    // Asked for, hence no loss that strict mode would refuse.
    if (omitted > 0) prepared.report.add('input', 'clamped', `the ${omitted} oldest items do not fit`);
    return prepared.checks.length > 0 ? this.#checked(prepared, output) : this.#direct(prepared, output);
  }

  async #direct(prepared: PreparedText, output: AttemptOutput): Promise<GatewayError | undefined> {
    const { generation } = this.#options;
    // The translate lane's events are collected where the client gets them; relayed bytes must be read on the way.
    const collects = generation.needsEvents(prepared.endpoint);
    const failure = await this.#attempt(prepared, output, collects, this.#options.claim);
    if (failure) {
      if (this.#current?.told) generation.told = true;
      return failure;
    }
    this.#holdCache();
    generation.relayed = this.#current?.tap?.result();
    return undefined;
  }

  async #checked(prepared: PreparedText, output: AttemptOutput): Promise<GatewayError | undefined> {
    const { checks } = prepared;
    const held = new CheckedOutput(output, this.#options.claim, checks);
    const failure = await this.#attempt(prepared, held, false);
    if (failure) return failure;
    const flaw = held.isHolding ? await this.#judged(prepared, held) : undefined;
    if (flaw) return flaw;
    this.#holdCache();
    return undefined;
  }

  /** Gives the client what was held back of an answer: as it is, or after one repair. */
  async #judged(prepared: PreparedText, held: CheckedOutput): Promise<GatewayError | undefined> {
    if (this.#cancelled) return this.#cancelled;
    const first = this.#attemptNow();
    const verdict = await judge(prepared.checks, held.collector.result(), this.#readingSignal());
    if (this.#cancelled) return this.#cancelled;
    if (verdict.type === 'good') {
      held.release(verdict.answer, first);
      return undefined;
    }
    const second = new HeldAnswer();
    const repair = prepareRepair(prepared, verdict.flaw.repair, this.#options.learned);
    const failure = await this.#attempt(repair, second, false);
    if (this.#cancelled) return this.#cancelled;
    const mended = failure ?? second.collector.result();
    const settled = await verdict.flaw.settle(mended, this.#readingSignal());
    if (settled instanceof GatewayError) return settled;
    held.release(settled.answer, settled.isSecond ? this.#attemptNow() : first);
    return undefined;
  }

  #attemptNow(): Attempt {
    if (!this.#current) throw new TypeError('an answer of nobody');
    return this.#current;
  }

  #attempt(
    prepared: PreparedText,
    output: AttemptOutput,
    collects: boolean,
    claim?: () => void,
  ): Promise<GatewayError | undefined> {
    return runAttempt(
      (fresh) => this.#newAttempt(prepared, output, collects, fresh, claim),
      () => this.#cancelled !== undefined,
    );
  }

  #newAttempt(
    prepared: PreparedText,
    output: AttemptOutput,
    collects: boolean,
    fresh: boolean,
    claim: (() => void) | undefined,
  ): Attempt {
    const { generation, deps } = this.#options;
    const attempt = new Attempt(
      {
        requester: generation,
        ordinal: generation.attempts.length,
        prepared,
        output,
        fresh,
        collects,
        claim,
        // Behind results of tools a model may have nothing to add.
        passOn: (meter) =>
          prepared.request.items.at(-1)?.type !== 'tool_result' && this.#options.hasOthers()
            ? emptyAnswer(meter, prepared.endpoint.slug)
            : null,
      },
      deps,
    );
    generation.attempts.push(attempt);
    if (!generation.served) generation.report = prepared.report;
    this.#current = attempt;
    return attempt;
  }

  /** The upstream has read the prompt: its cache is there for the conversation's next turn. */
  #holdCache(): void {
    const { plan, candidate, deps } = this.#options;
    if (plan.conversation === null) return;
    const lifeMs = cacheLifeMs(this.#current?.charge().usage ?? null);
    deps.routing.hold(plan.conversation, candidate.endpoint, lifeMs);
  }
}
