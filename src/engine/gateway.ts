// The engine's door: one instance answers all requests of the process, each in a run of its own, or from the run that
// its idempotency key has already.
import {
  type CanonicalRequest,
  GatewayError,
  type JsonObject,
  Report,
  type RequestOutline,
} from '../canonical/index.ts';
import { Roster } from '../lib/roster.ts';
import { AnsweredCalls } from './tools/index.ts';
import { arrive, type Arrival } from './arrival.ts';
import type { ApiCall, ExplainCall } from './call.ts';
import { Cohorts } from './cohort.ts';
import { countInput, type Counted } from './count-input.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { answerEmbeddings } from './embeddings/index.ts';
import { explainRoute } from './explain.ts';
import {
  answerFromElsewhere,
  IDEMPOTENCY_HEADER,
  type IdempotentAnswer,
  IdempotentAnswers,
  publicAnswer,
  refuse,
} from './answer/index.ts';
import { LearnedRefusals } from './attempt/index.ts';
import { refuseUnread } from './refuse-unread.ts';
import { relayRemote, type RemoteCall } from './relay-remote.ts';
import { Run, type Shared } from './run.ts';
import type { EngineSettings } from './settings.ts';
import { Trail } from './trail.ts';
import { Visit } from './visit.ts';

/** Makes an answer. @returns true when the client has a complete, good one */
type Answering = (arrival: Arrival, visit: Visit) => Promise<boolean>;

export class Gateway {
  readonly #deps: GatewayDependencies;
  readonly #active = new Roster<Visit>();
  readonly #shared: Shared;
  readonly #idempotent: IdempotentAnswers;
  /** Questions for a number of tokens that wait for their answer. */
  #counts = 0;

  constructor(deps: GatewayDependencies) {
    this.#deps = deps;
    this.#shared = {
      learned: new LearnedRefusals(),
      answered: new AnsweredCalls(deps.clock.now),
      cohorts: new Cohorts(() => this.#active.size === 1),
    };
    this.#idempotent = new IdempotentAnswers(() => deps.settings().config.idempotency, deps.clock.now);
  }

  /** Requests being answered; those that read a shared answer count besides its run. */
  get active(): number {
    return this.#active.size + this.#idempotent.readers + this.#counts;
  }

  /** Answers that are being streamed. */
  get streaming(): number {
    let streams = 0;
    for (const { isStreaming } of this.#active) if (isStreaming) streams += 1;
    return streams;
  }

  /** Answers one request. Never rejects: every failure reaches the client in its own protocol. */
  serve(call: ApiCall): Promise<unknown> {
    return this.#serve(call, (arrival, visit) => new Run(arrival, visit, this.#deps, this.#shared).answer());
  }

  /**
   * What a request has to expect of the limits of whoever asks, as far as that is known before its body.
   * @returns `unread`: to be refused whatever it says, so that `refuseUnread` is worth asking; `read`: to be refused, most
   *   likely, but somebody has to read it; null: nothing, or an answer that is there already, which counts nothing
   */
  refusalOf({ principal, header }: Pick<ApiCall, 'principal' | 'header'>): 'unread' | 'read' | null {
    const { limits, settings } = this.#deps;
    const scopes = limits.scopesOf(principal);
    if (scopes.length === 0) return null;
    const isFull = limits.limiter.isFull(scopes);
    if ((!isFull && !limits.limiter.isSpent(scopes)) || header(IDEMPOTENCY_HEADER) !== null) return null;
    // What is logged has to be read.
    return isFull && !isKept(principal, settings()) ? 'unread' : 'read';
  }

  /**
   * Refuses a request that limits have no room for, whatever it says.
   * @param call its body is not parsed
   * @param outline what was read of it
   * @returns resolves when its client has been told; null where it has to be served
   */
  refuseUnread(call: ApiCall, outline: RequestOutline): Promise<void> | null {
    return refuseUnread(call, outline, this.#deps);
  }

  /** Answers one request for embeddings, in the client's shape. Never rejects. */
  embed(call: ApiCall): Promise<unknown> {
    return this.#serve(call, (arrival, visit) => answerEmbeddings(arrival, visit, this.#deps));
  }

  #serve(call: ApiCall, answering: Answering): Promise<unknown> {
    const key = call.header(IDEMPOTENCY_HEADER);
    return key === null ? this.#run(call, answering) : this.#runOnce(call, key, answering);
  }

  /** Answers from the run that the key has; only when there is none, from a new one. */
  async #runOnce(call: ApiCall, key: string, answering: Answering): Promise<void> {
    let shared: IdempotentAnswer | null;
    try {
      shared = this.#idempotent.open(key, call);
    } catch (thrown) {
      const refused = { arrival: this.#arrive(call), trail: new Trail(), report: new Report() };
      return refuse(refused, GatewayError.from(thrown));
    }
    if (!shared) return;
    const account = this.#idempotent.accountOf(shared, call.account);
    const own = { ...call, client: shared.answer, account };
    // The run lets go of its own body when it can.
    call.body = '';
    call.json = undefined;
    const { answers } = this.#deps;
    const source = answers && (await answers.claim(shared.name, shared.fingerprint));
    if (source && source.type !== 'own') {
      const refused = { arrival: this.#arrive(own), trail: new Trail(), report: new Report() };
      return this.#idempotent.settle(shared, await answerFromElsewhere(refused, source));
    }
    const publication = source?.publication;
    publication?.begin(publicAnswer(shared));
    const isGood = await this.#run(own, answering);
    publication?.end(isGood);
    this.#idempotent.settle(shared, isGood);
  }

  #arrive(call: ApiCall): Arrival {
    return arrive(call, this.#deps.settings(), this.#deps);
  }

  /** @returns true when the client has a complete, good answer */
  async #run(call: ApiCall, answering: Answering): Promise<boolean> {
    const settings = this.#deps.settings();
    const tape = isKept(call.principal, settings) ? this.#deps.tapes.open(call) : null;
    const own = tape ? { ...call, client: tape.client, tape } : call;
    const visit = new Visit(own.client);
    const place = this.#active.add(visit);
    try {
      const arrival = arrive(own, settings, this.#deps);
      const gathered = this.#shared.cohorts.arriving.gathered();
      if (gathered) await gathered;
      return await answering(arrival, visit);
    } catch (thrown) {
      // Not even the refusal could be sent: a defect, which must end neither the process nor in silence.
      const error = GatewayError.from(thrown);
      this.#deps.log.error('an answer could not be sent', { error });
      const { status, body } = call.protocol.server.encodeError(error, '');
      call.client.respond(status, { 'content-type': 'application/json' }, JSON.stringify(body), 'text');
      return false;
    } finally {
      tape?.close();
      this.#active.remove(visit, place);
    }
  }

  /**
   * The input tokens of a request, which is not answered. Throws GatewayError for what the request itself would be
   * refused for.
   * @param request what the call is about, with everything that it refers to
   */
  async count(call: ApiCall, request: CanonicalRequest): Promise<Counted> {
    this.#counts++;
    try {
      return await countInput(this.#deps, call, request);
    } finally {
      this.#counts--;
    }
  }

  /**
   * Passes on what a client does with an answer that an upstream keeps. Rejects where the client got nothing.
   * @throws GatewayError `not_found` for what is unknown or another project's
   */
  async relayRemote(call: RemoteCall): Promise<void> {
    const visit = new Visit(call.client);
    const place = this.#active.add(visit);
    try {
      await relayRemote(call, visit, this.#deps);
    } finally {
      this.#active.remove(visit, place);
    }
  }

  /** How a request would be routed. Throws GatewayError for what the request itself would be refused for. */
  explain(call: ExplainCall): JsonObject {
    return explainRoute(this.#deps, call);
  }

  /** Ends every running answer with a native error: the last step of a shutdown that ran out of time. */
  abortAll(): void {
    for (const { cancellation } of this.#active)
      cancellation.cancel(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
  }
}

/** Whether what is said with a key is kept: as the key has it, else as the configuration has it. */
function isKept({ logContent }: ApiCall['principal'], { config }: EngineSettings): boolean {
  return logContent ?? config.logging.content !== false;
}
