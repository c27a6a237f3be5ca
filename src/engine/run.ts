// One request's way through the engine: decoded, hydrated, planned, tried, settled, answered.
import type { CanonicalRequest } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';
import type { AnswerContext } from '../protocols/index.ts';
import type { Plan } from '../routing/index.ts';
import { newGenerationId } from '../runtime/ids.ts';
import type { Attempt } from './attempt.ts';
import type { ApiCall } from './call.ts';
import { type ClientAnswer, StreamAnswer, WholeAnswer } from './client-answer.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { Generation } from './generation.ts';
import type { LearnedRefusals } from './learned-refusals.ts';
import { refusalStatus, refuse } from './refuse.ts';
import { routeRequest } from './route.ts';
import { timeLimits } from './time-limits.ts';
import { Tries } from './tries.ts';

export class Run {
  readonly #deps: GatewayDependencies;
  readonly #generation: Generation;
  readonly #learned: LearnedRefusals;
  #tries: Tries | undefined;
  #interruption: GatewayError | undefined;
  #watching = false;

  constructor(deps: GatewayDependencies, call: ApiCall, learned: LearnedRefusals) {
    this.#deps = deps;
    this.#learned = learned;
    const now = deps.clock.now();
    this.#generation = new Generation(newGenerationId(now), call, deps.settings(), now);
  }

  /** @returns true when the client has a complete, good answer; false when it was told of a failure, or has left */
  async answer(): Promise<boolean> {
    const generation = this.#generation;
    let answer: ClientAnswer | undefined;
    let untick: (() => void) | undefined;
    try {
      const request = await this.#hydrate(this.#decode());
      const plan = this.#plan(request);
      answer = this.#openAnswer(request, plan);
      const ticked = answer;
      untick = this.#deps.ticker.add((now) => {
        this.#watchClient();
        ticked.tick(now);
      });
      const failure = this.#interruption ?? (await this.#try(request, plan, answer));
      await this.#settle(failure, answer);
      if (generation.cancelled) return false;
      if (failure) {
        this.#refuse(failure, answer);
        return false;
      }
      const paidForNothing = generation.paidForNothing();
      if (paidForNothing) this.#deps.log.warn('an empty answer was billed', paidForNothing);
      answer.complete();
      return true;
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      if (error.kind === 'internal')
        this.#deps.log.error('request failed', { id: generation.id, error: thrown });
      await this.#settle(error, answer);
      if (!generation.cancelled) this.#refuse(error, answer);
      return false;
    } finally {
      untick?.();
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

  #decode(): CanonicalRequest {
    const generation = this.#generation;
    const { call } = generation;
    const request = call.protocol.server.decodeRequest(call.json);
    generation.request = request;
    generation.report = request.report;
    return request;
  }

  /** Puts back what the client lost: signed reasoning of earlier tool turns. */
  async #hydrate(request: CanonicalRequest): Promise<CanonicalRequest> {
    if (!request.items.some((item) => item.type === 'tool_call')) return request;
    const { vault, log } = this.#deps;
    try {
      const { items } = await vault.restore(this.#generation.call.principal.keyId, request.items);
      return items === request.items ? request : { ...request, items };
    } catch (error) {
      // Most requests can do without; the model says so if this one cannot.
      log.error('lost reasoning could not be restored', { id: this.#generation.id, error });
      return request;
    }
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
    generation.route = plan.table();
    generation.limit(timeLimits(settings.timeouts, plan.wishes.limits, call.header, request.report));
    return plan;
  }

  #openAnswer(request: CanonicalRequest, plan: Plan): ClientAnswer {
    const generation = this.#generation;
    const context: AnswerContext = {
      id: generation.id,
      createdSeconds: Math.floor(generation.createdAt / 1000),
      model: plan.candidates[0]?.endpoint.modelId ?? request.model,
      request,
      reasoningContentMirror: generation.settings.reasoningContentMirror,
    };
    const committing = (by: Attempt): void => {
      // An answer that another attempt completes keeps the report of the one that began it.
      if (!generation.served) generation.report = by.report;
      generation.served = by;
    };
    if (!request.stream) return new WholeAnswer(generation, context, committing);
    return new StreamAnswer(generation, context, {
      now: () => this.#deps.clock.now(),
      pause: () => generation.served?.pause(),
      resume: () => generation.served?.resume(),
      committing: (by) => {
        committing(by);
        this.#watchClient();
        generation.release();
      },
    });
  }

  #try(request: CanonicalRequest, plan: Plan, answer: ClientAnswer): Promise<GatewayError | undefined> {
    this.#tries = new Tries({
      deps: this.#deps,
      generation: this.#generation,
      learned: this.#learned,
      request,
      plan,
      answer,
    });
    return this.#tries.run();
  }

  /** Writes the records; the client gets the end of its answer only afterwards. */
  async #settle(error: GatewayError | undefined, answer: ClientAnswer | undefined): Promise<void> {
    const generation = this.#generation;
    const status = generation.cancelled
      ? 499
      : error && !answer?.opened
        ? refusalStatus(generation, error)
        : 200;
    const record = generation.record(status, this.#deps.clock.now(), error);
    try {
      await this.#deps.ledger.append(
        record,
        generation.attempts.map((attempt) => attempt.record()),
      );
    } catch (failure) {
      // An answer is worth more to its reader than its record to us; the log keeps what the database refused.
      const { content: _, ...facts } = record;
      this.#deps.log.error('a generation could not be recorded', { record: facts, error: failure });
    }
  }

  #refuse(error: GatewayError, answer: ClientAnswer | undefined): void {
    if (!answer?.opened) return refuse(this.#generation, error);
    if (this.#generation.told) answer.complete();
    else answer.fail(error);
  }
}
