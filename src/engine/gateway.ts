// Entry point of the engine: one instance answers all requests of the process, each in its own run, or from an existing
// run with the same idempotency key.
import { type JsonObject, NO_JSON } from '../base/json/index.ts';
import { GatewayError, Report, type RequestOutline, TEXTS } from '../canonical/index.ts';
import { Roster } from '../base/lib/roster.ts';
import { ApprovedCalls } from './tool-loop/index.ts';
import { type ApiCall, type Arrival, arrive, type ExplainCall } from './call.ts';
import { Cohorts } from './cohort.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { refuseUnread } from './early-refusal.ts';
import { explainRoute } from './explain.ts';
import {
  answerFromOtherReplica,
  IDEMPOTENCY_HEADER,
  type IdempotentAnswer,
  IdempotentAnswers,
  publicAnswer,
  refuse,
} from './answer/index.ts';
import { LearnedRefusals } from './attempt/index.ts';
import { relayRemote, type RemoteCall } from './relay-remote.ts';
import type { EngineSettings } from './settings.ts';
import { KeepingClient, keepingOf } from './streams/index.ts';
import { type Answering, type Task, type TaskEngine, text } from './tasks/index.ts';
import { AttemptLog } from './attempt-log.ts';
import { ClientConnection } from './cancellation.ts';

export class Gateway {
  readonly #deps: GatewayDependencies;
  readonly #active = new Roster<ClientConnection>();
  readonly #engine: TaskEngine;
  readonly #idempotent: IdempotentAnswers;
  /** Number of running requests that are not recorded. */
  #unrecordedWork = 0;

  constructor(deps: GatewayDependencies) {
    this.#deps = deps;
    this.#engine = {
      deps,
      shared: {
        learned: new LearnedRefusals(),
        approved: new ApprovedCalls(deps.clock.now),
        cohorts: new Cohorts(() => this.#active.size === 1),
      },
      recorded: (call, answering) => this.#serve(call, answering),
      unrecorded: (work) => this.#unrecorded(work),
    };
    this.#idempotent = new IdempotentAnswers(() => deps.settings().config.idempotency, deps.clock.now);
  }

  /** Number of requests being answered. Readers of a shared answer count in addition to its run. */
  get active(): number {
    return this.#active.size + this.#idempotent.readers + this.#unrecordedWork;
  }

  /** Number of answers being streamed. */
  get streaming(): number {
    let streams = 0;
    for (const { isStreaming } of this.#active) if (isStreaming) streams += 1;
    return streams;
  }

  /**
   * Answers one request of any task. For tasks whose requests are recorded it never rejects: every failure reaches the
   * client in its own protocol.
   * @throws GatewayError when nothing was sent to the client
   */
  serve(call: ApiCall, task: Task = text): Promise<unknown> {
    return task.answer(call, this.#engine);
  }

  /**
   * Expected effect of the caller's limits, before the body is read.
   * @returns `unread`: will be refused whatever it contains, so try `refuseUnread`; `read`: will probably be refused,
   * but the body must be read; null: no limits, or a replay, which is not counted
   */
  refusalOf({ principal, header }: Pick<ApiCall, 'principal' | 'header'>): 'unread' | 'read' | null {
    const { limits, settings } = this.#deps;
    const scopes = limits.scopesOf(principal);
    if (scopes.length === 0) return null;
    const isFull = limits.limiter.isFull(scopes);
    if ((!isFull && !limits.limiter.isSpent(scopes)) || header(IDEMPOTENCY_HEADER) !== null) return null;
    // A request that is logged must be read.
    return isFull && !isKept(principal, settings()) ? 'unread' : 'read';
  }

  /**
   * Refuses a request that exceeds limits whatever it contains.
   * @param call its body is not parsed
   * @param outline the part that was read
   * @returns resolves when the refusal was sent; null: the request must be served
   */
  refuseUnread(call: ApiCall, outline: RequestOutline): Promise<void> | null {
    return refuseUnread(call, outline, this.#deps);
  }

  /**
   * Answers one request through a queue instead of a run. Idempotency keys, logs and refusals work as for every
   * request.
   * @param answer throws the refusal for the client
   */
  answerBy(call: ApiCall, answer: (arrival: Arrival) => Promise<void>): Promise<unknown> {
    return this.#serve({ ...call, isQueued: true }, async (arrival) => {
      try {
        await answer(arrival);
        return true;
      } catch (thrown) {
        const error = GatewayError.from(thrown);
        if (error.kind === 'internal')
          this.#deps.log.error('request failed', { id: arrival.id, error: thrown });
        refuse({ arrival, attemptLog: new AttemptLog(), report: new Report() }, error);
        return false;
      }
    });
  }

  #serve(call: ApiCall, answering: Answering): Promise<unknown> {
    const key = call.header(IDEMPOTENCY_HEADER);
    return key === null ? this.#run(call, answering) : this.#runOnce(call, key, answering);
  }

  /** Answers from the existing run of the key, or from a new one. */
  async #runOnce(call: ApiCall, key: string, answering: Answering): Promise<void> {
    let shared: IdempotentAnswer | null;
    try {
      shared = this.#idempotent.open(key, call);
    } catch (thrown) {
      const refused = { arrival: this.#arrive(call), attemptLog: new AttemptLog(), report: new Report() };
      return refuse(refused, GatewayError.from(thrown));
    }
    if (!shared) return;
    const account = this.#idempotent.accountOf(shared, call.account);
    const own = { ...call, client: shared.answer, account };
    // The run releases its own reference to the body.
    call.body = NO_JSON;
    call.json = undefined;
    if (call.files) call.files = undefined;
    const { answers } = this.#deps;
    const source = answers && (await answers.claim(shared.name, shared.fingerprint));
    if (source && source.type !== 'own') {
      const refused = { arrival: this.#arrive(own), attemptLog: new AttemptLog(), report: new Report() };
      return this.#idempotent.settle(shared, await answerFromOtherReplica(refused, source));
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

  /** @returns true when the client has a complete, successful answer */
  async #run(call: ApiCall, answering: Answering): Promise<boolean> {
    const settings = this.#deps.settings();
    const recorder = isKept(call.principal, settings) ? this.#deps.recorders.open(call) : null;
    const own = recorder ? { ...call, client: recorder.client, recorder } : call;
    let kept = own;
    let refusal: GatewayError | undefined;
    try {
      kept = this.#kept(own, settings);
    } catch (thrown) {
      refusal = GatewayError.from(thrown);
    }
    const clientConnection = new ClientConnection(kept.client);
    const place = this.#active.add(clientConnection);
    try {
      const arrival = arrive(kept, settings, this.#deps);
      if (refusal) {
        refuse({ arrival, attemptLog: new AttemptLog(), report: new Report() }, refusal);
        return false;
      }
      await this.#engine.shared.cohorts.arriving.gathered();
      return await answering(arrival, clientConnection);
    } catch (thrown) {
      // Not even the refusal could be sent. The defect is logged and must not end the process.
      const error = GatewayError.from(thrown);
      this.#deps.log.error('a response could not be sent', { error });
      const { status, body } = call.protocol.server.encodeError(error, '');
      call.client.respond(status, { 'content-type': 'application/json' }, JSON.stringify(body));
      return false;
    } finally {
      recorder?.close();
      this.#active.remove(clientConnection, place);
    }
  }

  /** The call with a client that stores its stream, if requested. */
  #kept(call: ApiCall, { config }: EngineSettings): ApiCall {
    const keeping = keepingOf(call, config.streams);
    if (!keeping) return call;
    const { streams, clock } = this.#deps;
    const { projectId } = call.principal;
    return { ...call, client: new KeepingClient(call.client, { ...keeping, streams, projectId, clock }) };
  }

  async #unrecorded<Made>(work: () => Promise<Made>): Promise<Made> {
    this.#unrecordedWork++;
    try {
      return await work();
    } finally {
      this.#unrecordedWork--;
    }
  }

  /**
   * Passes on a client's operation on an answer stored at an upstream. Rejects when nothing was sent to the client.
   * @throws GatewayError `not_found` for an unknown id, or one of another project
   */
  async relayRemote(call: RemoteCall): Promise<void> {
    const clientConnection = new ClientConnection(call.client);
    const place = this.#active.add(clientConnection);
    try {
      await relayRemote(call, clientConnection, this.#deps);
    } finally {
      this.#active.remove(clientConnection, place);
    }
  }

  /** Explains how a request would be routed. Throws the GatewayError with which the request itself would be refused. */
  explain(call: ExplainCall, task: Task = text): JsonObject {
    return explainRoute(this.#deps, call, task);
  }

  /** Ends every running answer with a native error: the last step of a shutdown that timed out. */
  abortAll(): void {
    for (const { cancellation } of this.#active)
      cancellation.cancel(new GatewayError('upstream_unavailable', TEXTS.shuttingDown));
  }
}

/** True when content is logged: the key's setting takes precedence over the configuration. */
function isKept({ logContent }: ApiCall['principal'], { config }: EngineSettings): boolean {
  return logContent ?? config.logging.content !== false;
}
