// One request's way through the engine: decoded, admitted, hydrated, planned, tried, settled, answered.
import type { CanonicalRequest, CollectedEvents } from '../canonical/index.ts';
import { Collector, GatewayError } from '../canonical/index.ts';
import type { Model } from '../catalog/index.ts';
import type { AnswerContext } from '../protocols/index.ts';
import { planCandidates, type Plan } from '../routing/plan.ts';
import type { Clock, Ticker } from '../runtime/clock.ts';
import { newGenerationId, newId } from '../runtime/ids.ts';
import { pickForVault, type Vault } from '../state/vault.ts';
import type { LedgerStore } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { Attempt } from './attempt.ts';
import type { AttemptOutput, AttemptResult } from './attempt-options.ts';
import type { ApiCall } from './call.ts';
import { type ClientAnswer, HeldAnswer, StreamAnswer, WholeAnswer } from './client-answer.ts';
import { actionFor, retryDelayMs } from './failure-table.ts';
import { type Failure, finalError } from './final-error.ts';
import { Generation } from './generation.ts';
import type { LearnedRefusals } from './learned-refusals.ts';
import { prepareAttempt, prepareRepair, type PreparedAttempt } from './prepare.ts';
import { refuse } from './refuse.ts';
import { replay } from './replay.ts';
import type { EngineSettings } from './settings.ts';
import { withText } from './structured-output.ts';

export interface GatewayDependencies {
  /** The settings of the current configuration. */
  readonly settings: () => EngineSettings;
  readonly upstream: UpstreamClient;
  readonly ledger: LedgerStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ticker: Ticker;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** Masks secrets in text that came from an upstream. */
  readonly redact: (text: string) => string;
}

export class Run {
  readonly #deps: GatewayDependencies;
  readonly #generation: Generation;
  readonly #learned: LearnedRefusals;
  #current: Attempt | undefined;
  #interruption: GatewayError | undefined;
  /** True when the client has already read of the failure, in the upstream's own words. */
  #told = false;
  #wake: (() => void) | undefined;
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
      const request = this.#decode();
      const model = this.#admit(request);
      const hydrated = await this.#hydrate(request);
      const plan = planCandidates(hydrated, model);
      answer = this.#openAnswer(hydrated, model);
      const ticked = answer;
      untick = this.#deps.ticker.add((now) => {
        this.#watchClient();
        ticked.tick(now);
      });
      const failure = await this.#tryAll(hydrated, plan, answer);
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

  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    this.#current?.cancel(error);
    this.#wake?.();
  }

  #decode(): CanonicalRequest {
    const generation = this.#generation;
    const { call } = generation;
    const request = call.protocol.server.decodeRequest(call.json);
    generation.request = request;
    generation.report = request.report;
    return request;
  }

  #admit(request: CanonicalRequest): Model {
    const { settings, call } = this.#generation;
    const model = settings.catalog.find(request.model);
    if (!model) {
      const similar = settings.catalog.suggest(request.model);
      const hint =
        similar.length > 0 ? ` Did you mean ${similar.join(', ')}?` : ' GET /v1/models lists the models.';
      throw new GatewayError(
        'not_found',
        `The model ${JSON.stringify(request.model.slice(0, 200))} does not exist.${hint}`,
        {
          param: 'model',
          code: 'model_not_found',
        },
      );
    }
    if (!call.principal.mayUse(model.id)) {
      throw new GatewayError('permission', `this API key may not use the model ${model.id}`, {
        param: 'model',
        code: 'model_not_allowed',
      });
    }
    return model;
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

  #openAnswer(request: CanonicalRequest, model: Model): ClientAnswer {
    const generation = this.#generation;
    const context: AnswerContext = {
      id: generation.id,
      createdSeconds: Math.floor(generation.createdAt / 1000),
      model: model.id,
      request,
      reasoningContentMirror: generation.settings.reasoningContentMirror,
    };
    const committing = (): void => {
      generation.served = this.#current;
    };
    if (!request.stream) return new WholeAnswer(generation, context, committing);
    return new StreamAnswer(generation, context, {
      now: () => this.#deps.clock.now(),
      pause: () => this.#current?.pause(),
      resume: () => this.#current?.resume(),
      committing: () => {
        committing();
        this.#watchClient();
        generation.release();
      },
    });
  }

  /** Tries the candidates in order. @returns undefined when one answered, else the error for the client */
  async #tryAll(
    request: CanonicalRequest,
    plan: Plan,
    answer: ClientAnswer,
  ): Promise<GatewayError | undefined> {
    const generation = this.#generation;
    const failures: Failure[] = [];
    for (const { endpoint } of plan.candidates) {
      for (let retry = 0; ; retry++) {
        if (this.#interruption) return this.#interruption;
        const error = await this.#tryOne(request, endpoint, answer);
        if (!error) return undefined;
        if (this.#interruption) return this.#interruption;
        if (answer.committed) return error;
        if (this.#learned.learn(endpoint, error)) {
          retry--;
          continue;
        }
        failures.push({ endpoint: endpoint.slug, error });
        const action = actionFor(error);
        if (action === 'return' || this.#deps.clock.now() >= generation.deadlineAt)
          return finalError(failures);
        if (action === 'next' || retry >= generation.settings.retries) break;
        const delayMs = retryDelayMs(error, retry, this.#deps.random());
        if (delayMs === null || this.#deps.clock.now() + delayMs > generation.deadlineAt) break;
        await this.#pause(delayMs);
        if (this.#interruption) return this.#interruption;
      }
      if (!plan.failover) break;
    }
    generation.served = undefined;
    return finalError(failures);
  }

  async #tryOne(
    request: CanonicalRequest,
    endpoint: PreparedAttempt['endpoint'],
    answer: ClientAnswer,
  ): Promise<GatewayError | undefined> {
    const generation = this.#generation;
    const { call, settings } = generation;
    let prepared: PreparedAttempt;
    try {
      const strict =
        settings.strict || request.gateway.strict === true || call.header('x-dragoman-strict') === 'true';
      prepared = prepareAttempt(request, call.body, endpoint, strict, this.#learned);
    } catch (error) {
      return GatewayError.from(error);
    }
    generation.report = prepared.report;
    return prepared.format
      ? this.#checked(request, prepared, answer)
      : this.#attempt(request, prepared, answer);
  }

  /** One attempt whose answer goes straight to the client. */
  async #attempt(
    request: CanonicalRequest,
    prepared: PreparedAttempt,
    output: AttemptOutput,
  ): Promise<GatewayError | undefined> {
    const keep = this.#mustKeep(request, prepared);
    const collector = keep ? new Collector() : null;
    const result = await this.#run(request, prepared, output, collector);
    if (result.type === 'failed') {
      this.#told = result.told;
      return result.error;
    }
    if (collector) await this.#remember(collector.result());
    return undefined;
  }

  /** Attempts whose answer is checked against a format, and repaired once, before the client sees it. */
  async #checked(
    request: CanonicalRequest,
    prepared: PreparedAttempt,
    answer: ClientAnswer,
  ): Promise<GatewayError | undefined> {
    const { format } = prepared;
    if (!format) throw new TypeError('no format to check');
    let current = prepared;
    for (let repair = 0; ; repair++) {
      const held = new HeldAnswer();
      const result = await this.#run(request, current, held, null);
      if (result.type === 'failed') return result.error;
      const events = held.collector.result();
      const verdict = format.check(events);
      if (verdict && 'problem' in verdict && repair === 0) {
        current = prepareRepair(prepared, format.repair(verdict.text, verdict.problem), this.#learned);
        continue;
      }
      if (verdict && 'problem' in verdict && format.strict) {
        return new GatewayError(
          'unsupported',
          `the answer does not satisfy response_format, also after a repair: ${verdict.problem}`,
          {
            code: 'structured_output_failed',
            fault: 'upstream',
          },
        );
      }
      const final = verdict && 'json' in verdict ? withText(events, verdict.json) : events;
      answer.commit();
      replay(final, answer);
      answer.finishing();
      await this.#remember(final);
      return undefined;
    }
  }

  #run(
    request: CanonicalRequest,
    prepared: PreparedAttempt,
    output: AttemptOutput,
    tap: Collector | null,
  ): Promise<AttemptResult> {
    const generation = this.#generation;
    const { clock, ticker, upstream, redact } = this.#deps;
    const attempt = new Attempt({
      // Time-ordered, as the generation's own id: rows of one hour lie together in the index.
      id: `${generation.id}-${generation.attempts.length}`,
      generationId: generation.id,
      ordinal: generation.attempts.length,
      endpoint: prepared.endpoint,
      protocol: prepared.protocol,
      lane: prepared.lane,
      stream: request.stream,
      output,
      wrap: prepared.wrap,
      relayFacts: {
        id: generation.id,
        model: prepared.endpoint.modelId,
        showUsage: request.streamUsage === true || request.gateway.includeUsage === true,
      },
      tap,
      timeouts: generation.settings.timeouts,
      deadlineAt: generation.deadlineAt,
      inputChars: generation.inputChars,
      context: { newId, nowSeconds: () => Math.floor(clock.now() / 1000) },
      clock,
      ticker,
      upstream,
      redact,
    });
    generation.attempts.push(attempt);
    this.#current = attempt;
    return attempt.run(prepared.body);
  }

  /** True when the whole answer is needed afterwards: for the vault, or for a key whose content is logged. */
  #mustKeep(request: CanonicalRequest, prepared: PreparedAttempt): boolean {
    return (
      this.#generation.call.principal.logContent ||
      (request.tools.length > 0 && prepared.endpoint.reasoningFormat !== null)
    );
  }

  async #remember(events: CollectedEvents): Promise<void> {
    const { call } = this.#generation;
    if (call.principal.logContent) this.#generation.keepAnswer(events);
    if (!pickForVault(events.items)) return;
    const { vault, log } = this.#deps;
    await vault
      .remember(call.principal.keyId, events.items)
      .catch((error: unknown) =>
        log.error('reasoning could not be kept', { id: this.#generation.id, error }),
      );
  }

  /** Writes the records; the client gets the end of its answer only afterwards. */
  async #settle(error: GatewayError | undefined, answer: ClientAnswer | undefined): Promise<void> {
    const generation = this.#generation;
    const status = generation.cancelled ? 499 : error && !answer?.opened ? error.status : 200;
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
    if (this.#told) answer.complete();
    else answer.fail(error);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
