// One request's way through the engine: decoded, hydrated, planned, tried, settled, answered.
import type { CanonicalRequest, JsonObject } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { estimatedInputTokens } from '../ledger/index.ts';
import type { AnswerContext } from '../protocols/index.ts';
import type { Plan } from '../routing/index.ts';
import { newGenerationId } from '../runtime/ids.ts';
import { pickForVault } from '../state/vault.ts';
import { type AnsweredCalls, ToolBelt, ToolLoop } from './tools/index.ts';
import type { Attempt, LearnedRefusals } from './attempt/index.ts';
import type { ApiCall } from './call.ts';
import { type ClientAnswer, refuse, StreamAnswer, WholeAnswer } from './answer/index.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { Generation } from './generation.ts';
import {
  hydrate,
  type Hydrated,
  ignoreStreamOptions,
  isStrict,
  namesPrompt,
  promptedBody,
  releaseConversation,
  routeRequest,
  timeLimits,
} from './admit/index.ts';
import { keepTurn, settle } from './settle/index.ts';
import { Tries } from './failover/index.ts';

export class Run {
  readonly #deps: GatewayDependencies;
  readonly #generation: Generation;
  readonly #learned: LearnedRefusals;
  readonly #answered: AnsweredCalls;
  #tries: Pick<Tries, 'run' | 'interrupt'> | undefined;
  #interruption: GatewayError | undefined;
  #watching = false;

  constructor(deps: GatewayDependencies, call: ApiCall, learned: LearnedRefusals, answered: AnsweredCalls) {
    this.#deps = deps;
    this.#learned = learned;
    this.#answered = answered;
    const now = deps.clock.now();
    this.#generation = new Generation(newGenerationId(now), call, deps.settings(), now);
  }

  /** @returns true when the client has a complete, good answer; false when it was told of a failure, or has left */
  async answer(): Promise<boolean> {
    const generation = this.#generation;
    let answer: ClientAnswer | undefined;
    let untick: (() => void) | undefined;
    try {
      const isIgnoring =
        generation.settings.config.compatibility.ignoreStreamOptions && ignoreStreamOptions(generation.call);
      const { json, protocol } = generation.call;
      // Only protocols whose turns are kept know templates.
      const decoded =
        protocol.server.items && namesPrompt(json) ? await this.#decodePrompted(json) : this.#decode(json);
      if (isIgnoring) decoded.report.add('stream_options', 'dropped', 'means something only in a stream');
      const hydrated = await hydrate(decoded, generation, this.#deps);
      const { request } = hydrated;
      const plan = this.#plan(request);
      const context = this.#contextOf(request, plan);
      answer = this.#openAnswer(hydrated, context);
      const ticked = answer;
      untick = this.#deps.ticker.add((now) => {
        this.#watchClient();
        ticked.tick(now);
      });
      const failure = this.#interruption ?? (await this.#try(request, plan, answer));
      const { served } = generation;
      const isKept = !failure && served !== undefined && generation.keeps(served.endpoint);
      const kept = isKept ? this.#keep(hydrated, answer, context) : undefined;
      this.#settle(failure, answer);
      const response = await kept;
      if (generation.holdsConversation) await this.#freeConversation();
      if (generation.cancelled) return false;
      if (failure) {
        this.#refuse(failure, answer);
        return false;
      }
      const paidForNothing = generation.paidForNothing();
      if (paidForNothing) this.#deps.log.warn('an empty answer was billed', paidForNothing);
      answer.complete(response);
      return true;
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      if (error.kind === 'internal')
        this.#deps.log.error('request failed', { id: generation.id, error: thrown });
      this.#settle(error, answer);
      if (generation.holdsConversation) await this.#freeConversation();
      if (!generation.cancelled) this.#refuse(error, answer);
      return false;
    } finally {
      untick?.();
      if (generation.holdsConversation) await this.#freeConversation();
    }
  }

  /** Ends the answer with a failure, whatever it is doing. */
  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    this.#tries?.interrupt(error);
  }

  /**
   * Notices when the client leaves. Begins with the first tick or the first streamed byte: most whole answers are
   * there before, and listening costs more than it looks.
   */
  #watchClient(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#generation.call.client.onLeave(() => {
      this.#generation.cancelled = true;
      this.interrupt(new GatewayError('cancelled', 'the client closed the connection'));
    });
  }

  #decode(json: unknown): CanonicalRequest {
    const generation = this.#generation;
    const { call } = generation;
    const request = call.protocol.server.decodeRequest(json, call.route);
    generation.request = request;
    generation.report = request.report;
    return request;
  }

  /** The same with the template that the request names. */
  async #decodePrompted(json: JsonObject): Promise<CanonicalRequest> {
    const { call } = this.#generation;
    const { own, whole } = await promptedBody(json, call.principal.keyId, this.#deps.prompts);
    // First by itself: mistakes are named by their place in the client's own words.
    call.protocol.server.decodeRequest(own, call.route);
    return this.#decode(whole);
  }

  #plan(request: CanonicalRequest): Plan {
    const generation = this.#generation;
    const { call, settings, inputChars } = generation;
    const plan = routeRequest(request, {
      settings,
      principal: call.principal,
      state: this.#deps.routing,
      nowMs: this.#deps.clock.now(),
      inputChars,
      peek: false,
    });
    generation.route = plan.trace();
    generation.strict = isStrict(call, settings.config.strict);
    generation.limit(
      timeLimits(settings.config.routing.timeouts, plan.wishes.limits, call.header, request.report),
    );
    return plan;
  }

  #contextOf(request: CanonicalRequest, plan: Plan): AnswerContext {
    const { id, createdAt, settings, call } = this.#generation;
    return {
      id,
      createdSeconds: Math.floor(createdAt / 1000),
      model: plan.candidates[0]?.endpoint.modelId ?? request.model,
      request,
      reasoningContentMirror: settings.config.compatibility.reasoningContent,
      estimateInputTokens: () => estimatedInputTokens(request),
      streamAsArray: call.route?.streamAsArray,
    };
  }

  #openAnswer({ request, seal }: Hydrated, context: AnswerContext): ClientAnswer {
    const generation = this.#generation;
    const { now } = this.#deps.clock;
    const nowSeconds = (): number => Math.floor(now() / 1000);
    const committing = (by: Attempt): void => {
      // An answer that another attempt completes keeps the report of the one that began it.
      if (!generation.served) generation.report = by.report;
      generation.served = by;
    };
    if (!request.stream) return new WholeAnswer(generation, context, { committing, seal, nowSeconds });
    return new StreamAnswer(generation, context, {
      now,
      nowSeconds,
      seal,
      keeps: (by) => generation.keeps(by.endpoint),
      pause: () => generation.served?.pause(),
      resume: () => generation.served?.resume(),
      committing: (by) => {
        committing(by);
        this.#watchClient();
        generation.release();
      },
    });
  }

  /**
   * Keeps of the answer what is needed later. Never rejects: an answer is worth more than what is kept of it.
   * @returns the answer as it was kept; undefined for one that was not
   */
  async #keep(
    { turn, seal }: Hydrated,
    answer: ClientAnswer,
    context: AnswerContext,
  ): Promise<JsonObject | undefined> {
    const generation = this.#generation;
    const events = generation.relayed ?? answer.collected();
    const relayed = generation.keepsTurn ? generation.served?.meter.relayed?.answer?.() : undefined;
    const given =
      relayed !== undefined ? { relayed } : events && { events: seal?.collected(events) ?? events };
    const { principal } = generation.call;
    if (events && principal.logContent) generation.keepAnswer(events);
    // What is kept says what the client is told.
    context.completedSeconds ??= Math.floor(this.#deps.clock.now() / 1000);
    if (events?.usage) context.costUsd ??= generation.costUsd();
    const failed = (error: unknown): undefined => {
      this.#deps.log.error('an answer could not be kept', { id: generation.id, error });
    };
    // What an earlier turn thought led to a call that no client knows.
    const thought = generation.lastTurn ?? events?.items;
    const [response] = await Promise.all([
      turn && given && generation.keepsTurn
        ? keepTurn(turn, given, context, generation, this.#deps).catch(failed)
        : undefined,
      thought &&
        pickForVault(thought) &&
        this.#deps.vault
          .remember(
            principal.keyId,
            thought,
            generation.call.protocol.server.omitsCallIds ? context.request.items : undefined,
          )
          .catch(failed),
    ]);
    return response;
  }

  #try(request: CanonicalRequest, plan: Plan, answer: ClientAnswer): Promise<GatewayError | undefined> {
    const { items } = this.#generation.call.protocol.server;
    const belt = ToolBelt.of(request, this.#deps.tools(), items !== undefined);
    const input = {
      deps: this.#deps,
      generation: this.#generation,
      learned: this.#learned,
      request,
      plan,
      answer,
    };
    this.#tries = belt ? new ToolLoop({ ...input, belt, answered: this.#answered }) : new Tries(input);
    return this.#tries.run();
  }

  /** Writes the records; the client gets the end of its answer only afterwards. */
  #settle(error: GatewayError | undefined, answer: ClientAnswer | undefined): void {
    settle(this.#generation, error, answer?.opened === true, this.#deps);
  }

  /** Before the client hears of the end: its next turn may follow at once. */
  async #freeConversation(): Promise<void> {
    const { request } = this.#generation;
    if (request) await releaseConversation(request, this.#generation, this.#deps);
  }

  #refuse(error: GatewayError, answer: ClientAnswer | undefined): void {
    if (!answer?.opened) return refuse(this.#generation, error);
    if (this.#generation.told) answer.complete();
    else answer.fail(error);
  }
}
