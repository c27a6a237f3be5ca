// One request for embeddings on its way through the engine: decoded, planned, tried, settled, answered. Like a run of
// text, but nothing is streamed, stored or hydrated.
import type { EmbeddingsRequest } from '../../canonical/index.ts';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { DecodedEmbeddings } from '../../protocols/index.ts';
import { newGenerationId } from '../../runtime/ids.ts';
import type { ApiCall } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { EmbeddingTries } from './embedding-tries.ts';
import { Generation } from '../generation.ts';
import { refuse } from '../answer/index.ts';
import { isStrict, routeRequest, timeLimits } from '../admit/index.ts';
import { settle } from '../settle/index.ts';

export class Embedding {
  readonly #deps: GatewayDependencies;
  readonly #generation: Generation;
  #tries: EmbeddingTries | undefined;
  #interruption: GatewayError | undefined;
  #watching = false;

  constructor(deps: GatewayDependencies, call: ApiCall) {
    this.#deps = deps;
    const now = deps.clock.now();
    this.#generation = new Generation(newGenerationId(now), call, deps.settings(), now);
  }

  /** @returns true when the client has a complete, good answer; false when it was told of a failure, or has left */
  async answer(): Promise<boolean> {
    const generation = this.#generation;
    const untick = this.#deps.ticker.add(() => this.#watchClient());
    let failure: GatewayError | undefined;
    let body: JsonObject | undefined;
    try {
      body = await this.#embed();
    } catch (thrown) {
      failure = GatewayError.from(thrown);
      if (failure.kind === 'internal')
        this.#deps.log.error('request failed', { id: generation.id, error: thrown });
    } finally {
      untick();
    }
    settle(generation, failure, false, this.#deps);
    if (generation.cancelled) return false;
    if (failure || !body) {
      refuse(generation, failure ?? new GatewayError('internal', 'internal error'));
      return false;
    }
    const headers = { 'content-type': 'application/json', ...generation.headers() };
    generation.call.client.respond(200, headers, JSON.stringify(body), 'text');
    return true;
  }

  /** Ends the work with a failure. */
  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    this.#tries?.interrupt(error);
  }

  /** The body of the answer. Throws GatewayError. */
  async #embed(): Promise<JsonObject> {
    const generation = this.#generation;
    const { call, settings } = generation;
    const { request, asked, encode } = decodeEmbeddings(call);
    generation.request = request;
    generation.report = request.report;
    const plan = routeRequest(request, {
      settings,
      principal: call.principal,
      state: this.#deps.routing,
      nowMs: this.#deps.clock.now(),
      inputChars: longestInput(asked),
      peek: false,
    });
    generation.route = plan.trace();
    generation.strict = isStrict(call, settings.config.strict);
    generation.limit(
      timeLimits(settings.config.routing.timeouts, plan.wishes.limits, call.header, request.report),
    );
    const tries = new EmbeddingTries({ deps: this.#deps, generation, plan, request, asked });
    this.#tries = tries;
    const failure = this.#interruption ?? (await tries.run());
    if (failure) throw failure;
    const { answer } = tries;
    if (!answer) throw new TypeError('an answer of nobody');
    return encode({
      vectors: answer.vectors,
      usage: answer.usage,
      model: generation.served?.endpoint.modelId ?? request.model,
      costUsd: request.gateway.includeUsage === true ? generation.costUsd() : undefined,
    });
  }

  /** Notices when the client leaves. Begins with the first tick: most answers are there before. */
  #watchClient(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#generation.call.client.onLeave(() => {
      this.#generation.cancelled = true;
      this.interrupt(new GatewayError('cancelled', 'the client closed the connection'));
    });
  }
}

/** A request for embeddings in the client's protocol. Throws GatewayError naming every offending field. */
export function decodeEmbeddings({
  protocol,
  json,
  route,
}: Pick<ApiCall, 'protocol' | 'json' | 'route'>): DecodedEmbeddings {
  const { embeddings } = protocol.server;
  if (!embeddings) throw new TypeError(`clients of ${protocol.name} have no embeddings`);
  return embeddings.decodeRequest(json, route);
}

/** Each input stands for itself: the longest, in characters, is what must fit into a model's context. */
export function longestInput(asked: readonly EmbeddingsRequest[]): number {
  let longest = 0;
  for (const { inputs } of asked) for (const { length } of inputs) longest = Math.max(longest, length);
  return longest;
}
