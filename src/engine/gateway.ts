// The engine's door: one instance answers all requests of the process, each in a run of its own, or from the run that
// its idempotency key has already.
import { type JsonObject, NO_JSON } from '../base/json/index.ts';
import { GatewayError, Report, type RequestOutline, TEXTS } from '../canonical/index.ts';
import { Roster } from '../base/lib/roster.ts';
import { AnsweredCalls } from './tool-loop/index.ts';
import { type ApiCall, type Arrival, arrive, type ExplainCall } from './call.ts';
import { Cohorts } from './cohort.ts';
import type { GatewayDependencies } from './dependencies.ts';
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
import { settle } from './settle/index.ts';

export class Gateway {
  readonly #deps: GatewayDependencies;
  readonly #active = new Roster<ClientConnection>();
  readonly #engine: TaskEngine;
  readonly #idempotent: IdempotentAnswers;
  /** Work that is not recorded and runs. */
  #unrecordedWork = 0;

  constructor(deps: GatewayDependencies) {
    this.#deps = deps;
    this.#engine = {
      deps,
      shared: {
        learned: new LearnedRefusals(),
        answered: new AnsweredCalls(deps.clock.now),
        cohorts: new Cohorts(() => this.#active.size === 1),
      },
      recorded: (call, answering) => this.#serve(call, answering),
      unrecorded: (work) => this.#unrecorded(work),
    };
    this.#idempotent = new IdempotentAnswers(() => deps.settings().config.idempotency, deps.clock.now);
  }

  /** Requests being answered; those that read a shared answer count besides its run. */
  get active(): number {
    return this.#active.size + this.#idempotent.readers + this.#unrecordedWork;
  }

  /** Answers that are being streamed. */
  get streaming(): number {
    let streams = 0;
    for (const { isStreaming } of this.#active) if (isStreaming) streams += 1;
    return streams;
  }

  /**
   * Answers one request, of any task. Where the task's requests are recorded, it never rejects: every failure reaches the client
   * in its own protocol. @throws GatewayError where nothing was sent to the client
   */
  serve(call: ApiCall, task: Task = text): Promise<unknown> {
    return task.answer(call, this.#engine);
  }

  /**
   * Expectation of the caller's limits, as far as it is known before the body.
   * @returns `unread`: to be refused whatever it says, so that `refuseUnread` is worth asking; `read`: to be refused, most
   *   likely, but somebody has to read it; null: nothing, or an answer that is there already, which counts nothing
   */
  refusalOf({ principal, header }: Pick<ApiCall, 'principal' | 'header'>): 'unread' | 'read' | null {
    const { limits, settings } = this.#deps;
    const scopes = limits.scopesOf(principal);
    if (scopes.length === 0) return null;
    const isFull = limits.limiter.isFull(scopes);
    if ((!isFull && !limits.limiter.isSpent(scopes)) || header(IDEMPOTENCY_HEADER) !== null) return null;
    // A request that is logged has to be read.
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

  /**
   * Answers one request by a queue instead of a run. What holds for every request (idempotency keys, logs, refusals in the
   * client's protocol) holds for it. @param answer throws what the client is refused with
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

  /** Answers from the run that the key has; only when there is none, from a new one. */
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
    // The run lets go of its own body when it can.
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

  /** @returns true when the client has a complete, good answer */
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
      // Not even the refusal could be sent: a defect, which must end neither the process nor in silence.
      const error = GatewayError.from(thrown);
      this.#deps.log.error('an answer could not be sent', { error });
      const { status, body } = call.protocol.server.encodeError(error, '');
      call.client.respond(status, { 'content-type': 'application/json' }, JSON.stringify(body));
      return false;
    } finally {
      recorder?.close();
      this.#active.remove(clientConnection, place);
    }
  }

  /** The call, whose stream is kept from now on where that is wanted. */
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
   * Passes on what a client does with an answer that an upstream keeps. Rejects where the client got nothing.
   * @throws GatewayError `not_found` for what is unknown or another project's
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

  /** How a request would be routed. Throws GatewayError for what the request itself would be refused for. */
  explain(call: ExplainCall, task: Task = text): JsonObject {
    return explainRoute(this.#deps, call, task);
  }

  /** Ends every running answer with a native error: the last step of a shutdown that ran out of time. */
  abortAll(): void {
    for (const { cancellation } of this.#active)
      cancellation.cancel(new GatewayError('upstream_unavailable', TEXTS.shuttingDown));
  }
}

/** Whether what is said with a key is kept: as the key has it, else as the configuration has it. */
function isKept({ logContent }: ApiCall['principal'], { config }: EngineSettings): boolean {
  return logContent ?? config.logging.content !== false;
}

// A request whose limits have no room for any is refused before anybody reads what was said in it: by far most of what a
// request costs is to read it and to decide who shall answer. What it is told, and its record, are the same.

/**
 * Refuses a call, if that is certain.
 * @param call its `json` is not asked for
 * @param outline what was read of it
 * @returns resolves when its client has been told; null where the call has to be served
 */
function refuseUnread(
  call: ApiCall,
  outline: RequestOutline,
  deps: GatewayDependencies,
): Promise<void> | null {
  const arrival = arrive(call, deps.settings(), deps);
  const { quota, settings } = arrival;
  if (!quota) return null;
  const endUser = deps.endUsers.hashOf(call.principal.projectId, outline.endUser);
  const model = settings.catalog.find(outline.model)?.id ?? '';
  const failure = quota.refuse({ model, endUser });
  if (!failure) return null;
  const refused = { arrival, attemptLog: new AttemptLog(), report: new Report() };
  const outcome = { ...refused, request: outline, route: null, turns: [], turnCount: 0, failure };
  settle({ ...outcome, cancelled: false, content: null }, false, deps);
  return respond();

  async function respond(): Promise<void> {
    await deps.ledger.confirmed();
    if (failure) refuse(refused, failure);
  }
}
