// One try at one candidate: the attempt whose answer goes to the client, or the attempts whose answer is checked
// against a format first and repaired once.
import type { CanonicalRequest, CollectedEvents } from '../canonical/index.ts';
import { Collector, GatewayError } from '../canonical/index.ts';
import { cacheLifeMs, type Candidate, type Plan } from '../routing/index.ts';
import { newId } from '../runtime/ids.ts';
import { pickForVault } from '../state/vault.ts';
import { Attempt } from './attempt.ts';
import type { AttemptOutput, AttemptResult } from './attempt-options.ts';
import type { GatewayDependencies } from './dependencies.ts';
import type { Generation } from './generation.ts';
import { HeldAnswer } from './held-answer.ts';
import type { LearnedRefusals } from './learned-refusals.ts';
import { prepareAttempt, prepareRepair, type PreparedAttempt } from './prepare.ts';
import { replay } from './replay.ts';
import { withText } from './structured-output.ts';

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
}

export class CandidateTry {
  readonly done: Promise<GatewayError | undefined>;
  readonly #options: TryOptions;
  #current: Attempt | undefined;
  #cancelled: GatewayError | undefined;

  /** Starts at once. */
  constructor(options: TryOptions) {
    this.#options = options;
    this.done = this.#run().catch((thrown: unknown) => GatewayError.from(thrown));
  }

  cancel(reason: GatewayError): void {
    this.#cancelled ??= reason;
    this.#current?.cancel(reason);
  }

  async #run(): Promise<GatewayError | undefined> {
    const { generation, request, candidate, learned, translate, output } = this.#options;
    const prepared = prepareAttempt({
      request,
      clientBytes: generation.call.body,
      endpoint: candidate.endpoint,
      strict: generation.strict,
      translate,
      learned,
    });
    return prepared.format ? this.#checked(prepared, output) : this.#direct(prepared, output);
  }

  async #direct(prepared: PreparedAttempt, output: AttemptOutput): Promise<GatewayError | undefined> {
    const collector = this.#mustKeep(prepared) ? new Collector() : null;
    const result = await this.#attempt(prepared, output, collector, this.#options.claim);
    if (result.type === 'failed') {
      if (result.told) this.#options.generation.told = true;
      return result.error;
    }
    this.#holdCache();
    if (collector) await this.#remember(collector.result());
    return undefined;
  }

  async #checked(prepared: PreparedAttempt, output: AttemptOutput): Promise<GatewayError | undefined> {
    const { format } = prepared;
    if (!format) throw new TypeError('no format to check');
    let current = prepared;
    for (let repair = 0; ; repair++) {
      const held = new HeldAnswer();
      const result = await this.#attempt(current, held, null, () => {});
      if (result.type === 'failed') return result.error;
      if (this.#cancelled) return this.#cancelled;
      const events = held.collector.result();
      const verdict = format.check(events);
      if (verdict && 'problem' in verdict && repair === 0) {
        current = prepareRepair(
          prepared,
          format.repair(verdict.text, verdict.problem),
          this.#options.learned,
        );
        continue;
      }
      if (verdict && 'problem' in verdict && format.strict) {
        return new GatewayError(
          'unsupported',
          `the answer does not satisfy response_format, also after a repair: ${verdict.problem}`,
          { code: 'structured_output_failed', fault: 'upstream' },
        );
      }
      const final = verdict && 'json' in verdict ? withText(events, verdict.json) : events;
      const by = this.#current;
      if (!by) throw new TypeError('an answer of nobody');
      this.#options.claim();
      output.commit(by);
      replay(final, output);
      output.finishing();
      this.#holdCache();
      await this.#remember(final);
      return undefined;
    }
  }

  #attempt(
    prepared: PreparedAttempt,
    output: AttemptOutput,
    tap: Collector | null,
    claim: () => void,
  ): Promise<AttemptResult> {
    const { generation, request, deps } = this.#options;
    const { clock, ticker, upstream, redact, routing } = deps;
    const attempt = new Attempt({
      // Time-ordered, as the generation's own id: rows of one hour lie together in the index.
      id: `${generation.id}-${generation.attempts.length}`,
      generationId: generation.id,
      ordinal: generation.attempts.length,
      endpoint: prepared.endpoint,
      protocol: prepared.protocol,
      lane: prepared.lane,
      report: prepared.report,
      stream: request.stream,
      output,
      wrap: prepared.wrap,
      relayFacts: {
        id: generation.id,
        model: prepared.endpoint.modelId,
        showUsage: request.streamUsage === true || request.gateway.includeUsage === true,
      },
      tap,
      timeouts: generation.timeouts,
      deadlineAt: generation.deadlineAt,
      inputChars: generation.inputChars,
      context: { newId, nowSeconds: () => Math.floor(clock.now() / 1000) },
      lease: routing.begin(prepared.endpoint, request.stream),
      claim,
      clock,
      ticker,
      upstream,
      redact,
    });
    generation.attempts.push(attempt);
    if (!generation.served) generation.report = prepared.report;
    this.#current = attempt;
    return attempt.run(prepared.body);
  }

  /** True when the whole answer is needed afterwards: for the vault, or for a key whose content is logged. */
  #mustKeep(prepared: PreparedAttempt): boolean {
    const { generation, request } = this.#options;
    return (
      generation.call.principal.logContent ||
      (request.tools.length > 0 && prepared.endpoint.reasoningFormat !== null)
    );
  }

  /** The upstream has read the prompt: its cache is there for the conversation's next turn. */
  #holdCache(): void {
    const { plan, candidate, deps } = this.#options;
    if (plan.conversation === null) return;
    const lifeMs = cacheLifeMs(this.#current?.charge().usage ?? null);
    deps.routing.hold(plan.conversation, candidate.endpoint, lifeMs);
  }

  async #remember(events: CollectedEvents): Promise<void> {
    const { generation, deps } = this.#options;
    const { call } = generation;
    if (call.principal.logContent) generation.keepAnswer(events);
    if (!pickForVault(events.items)) return;
    await deps.vault
      .remember(call.principal.keyId, events.items)
      .catch((error: unknown) => deps.log.error('reasoning could not be kept', { id: generation.id, error }));
  }
}
