// Text task: the only task whose answers are streamed, stored, continued and use tools, and whose addresses are the
// protocols' own.
import { estimatedInputTokens } from '../../../accounts/ledger/index.ts';
import {
  admit,
  type Admitted,
  allow,
  decodeCall,
  planFor,
  type Planned,
  withoutStreamOptions,
} from '../../admit/index.ts';
import type { Shared, Task } from '../task.ts';
import type { JsonValue } from '../../../base/json/index.ts';
import { type CanonicalRequest, GatewayError, Report, TEXTS } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../../protocols/index.ts';
import { type ClientAnswer, refuse, StreamAnswer, WholeAnswer } from '../../answer/index.ts';
import type { Answered } from '../../answered.ts';
import { type Arrival, releaseBody } from '../../call.ts';
import type { Attempt } from '../../attempt/index.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import type { KeptAnswer } from '../../kept-answer.ts';
import { tryForText } from '../../failover/index.ts';
import { NOT_STORED, recordRequest, storeAnswer, type StoredAnswer } from '../../record/index.ts';
import { ToolLoop, ToolRegistry } from '../../tool-loop/index.ts';
import { AttemptLog } from '../../attempt-log.ts';
import type { ClientConnection } from '../../cancellation.ts';

export const text: Task = {
  name: 'text',
  clients: [],
  isRecorded: true,
  answer: (call, { deps, shared, recorded }) =>
    recorded(call, (arrival, clientConnection) => new Run(arrival, clientConnection, deps, shared).answer()),
  explain({ protocol, json, route, bodyChars }, { config }) {
    const asked = (config.compatibility.ignoreStreamOptions && withoutStreamOptions(json)) || json;
    const request = protocol.server.decodeRequest(asked, route);
    return { request, inputChars: bodyChars, inputTokens: () => estimatedInputTokens(request) };
  },
};

// One request's path through the engine: decoded, admitted, planned, tried, recorded, answered. Resources taken at
// admission are released in one place.

/** An answer whose output may begin. */
interface Opened {
  readonly admitted: Admitted;
  readonly planned: Planned;
  readonly answer: ClientAnswer;
  readonly context: AnswerContext;
}

/** A recorded request whose client has not received the end yet. */
interface Settled {
  readonly failure: GatewayError | undefined;
  /** True when the answer itself reports the failure, so no further error is sent. */
  readonly isReported: boolean;
  /** Resolves to the stored answer. Undefined: nothing is stored. */
  readonly keeping: Promise<KeptAnswer | undefined> | undefined;
}

/** Facts of a request for its record. */
interface Known {
  readonly failure: GatewayError | undefined;
  readonly turns: readonly Attempt[];
  readonly request: CanonicalRequest | undefined;
  readonly opened: Opened | undefined;
  readonly content: JsonValue;
}

/** A model that ends its turn without text still reports a few tokens. */
const EMPTY_ANSWER_TOKENS = 10;

class Run {
  readonly #arrival: Arrival;
  readonly #clientConnection: ClientConnection;
  readonly #deps: GatewayDependencies;
  readonly #shared: Shared;
  readonly #attemptLog = new AttemptLog();

  constructor(
    arrival: Arrival,
    clientConnection: ClientConnection,
    deps: GatewayDependencies,
    shared: Shared,
  ) {
    this.#arrival = arrival;
    this.#clientConnection = clientConnection;
    this.#deps = deps;
    this.#shared = shared;
  }

  /**
   * Answers it. Rejects only when not even an error could be sent.
   * @returns true when the client has a complete, successful answer; false when it received an error or disconnected
   */
  async answer(): Promise<boolean> {
    let request: CanonicalRequest | undefined;
    let admitted: Admitted | undefined;
    let opened: Opened | undefined;
    let settled: Settled;
    let kept: KeptAnswer | undefined;
    try {
      request = await decodeCall(this.#arrival, this.#deps);
      admitted = await admit(this.#arrival, request, this.#deps);
      // A turn of a thread has been expanded to the whole conversation.
      const inputChars = Math.max(this.#arrival.inputChars, this.#arrival.call.body.bytes.length);
      const planned = planFor(this.#arrival, admitted.request, inputChars, this.#deps);
      await allow(planned, () => estimatedInputTokens(planned.request), this.#deps);
      opened = this.#open(admitted, planned);
      const { answer } = opened;
      this.#clientConnection.begin(this.#deps.ticker, answer);
      const answered = await this.#try(opened);
      await this.#shared.cohorts.settling.gathered();
      settled = this.#settle(opened, answered);
      kept = settled.keeping && (await settled.keeping);
    } catch (thrown) {
      settled = this.#settleFailed(this.#failureOf(thrown), request, opened);
    } finally {
      this.#clientConnection.end();
      // Released before the client receives the end, because its next turn may follow immediately.
      await admitted?.release();
    }
    await this.#deps.ledger.confirmed();
    await this.#shared.cohorts.ending.gathered();
    return this.#respond(settled, kept, request, opened);
  }

  #open(admitted: Admitted, planned: Planned): Opened {
    const { id, createdAt, settings, call } = this.#arrival;
    const { request, plan } = planned;
    const context: AnswerContext = {
      id,
      createdSeconds: Math.floor(createdAt / 1000),
      model: plan.candidates[0]?.endpoint.modelId ?? request.model,
      request,
      reasoningContentMirror: settings.config.compatibility.reasoningContent,
      readsOpenWords: admitted.readsOpenWords,
      estimateInputTokens: () => estimatedInputTokens(request),
      streamAsArray: call.route?.streamAsArray,
    };
    const input = { admitted, attemptLog: this.#attemptLog, context, clock: this.#deps.clock };
    const answer = request.stream
      ? new StreamAnswer(input, () => {
          this.#clientConnection.stream();
          releaseBody(call);
        })
      : new WholeAnswer(input);
    return { admitted, planned, answer, context };
  }

  async #try({ admitted, planned, answer }: Opened): Promise<Answered> {
    const { cancellation } = this.#clientConnection;
    if (cancellation.reason) return { failure: cancellation.reason, isReported: false, turns: [] };
    const deps = this.#deps;
    const { learned, approved } = this.#shared;
    const input = { deps, admitted, planned, attemptLog: this.#attemptLog, learned, cancellation };
    const { items } = this.#arrival.call.protocol.server;
    const registry = ToolRegistry.of(planned.request, deps.tools, items !== undefined);
    if (registry) return new ToolLoop({ ...input, answer, registry, approved }).run();
    const failure = await tryForText({ ...input, answer, translate: false });
    const { by } = answer;
    return { failure, isReported: failure !== undefined && by?.isReported === true, turns: by ? [by] : [] };
  }

  /** Writes the records and starts storing. The client receives the end only afterwards. */
  #settle(opened: Opened, answered: Answered): Settled {
    const { failure, isReported, turns } = answered;
    const kept = failure ? NOT_STORED : this.#keep(opened, answered);
    this.#record({ failure, turns, request: opened.admitted.request, opened, content: kept.content });
    return { failure, isReported, keeping: kept.answer };
  }

  #keep({ admitted, answer, context }: Opened, { turns, lastTurn }: Answered): StoredAnswer {
    const by = turns.at(-1);
    if (!by || !admitted.keeps(by.endpoint)) return NOT_STORED;
    return storeAnswer({ admitted, answer, by, attemptLog: this.#attemptLog, context, lastTurn }, this.#deps);
  }

  #settleFailed(
    failure: GatewayError,
    request: CanonicalRequest | undefined,
    opened: Opened | undefined,
  ): Settled {
    const by = opened?.answer.by;
    this.#record({ failure, turns: by ? [by] : [], request, opened, content: null });
    return { failure, isReported: false, keeping: undefined };
  }

  #record({ failure, turns, request, opened, content }: Known): void {
    const { call, quota } = this.#arrival;
    const wasAsked = this.#attemptLog.attempts.length > 0;
    // A job without available capacity counts as not begun.
    if (failure && call.job?.failed(failure, wasAsked) && !wasAsked)
      return quota?.settle({ requests: 0, tokens: 0, nanoUsd: 0 });
    recordRequest(
      {
        failure,
        turns,
        request,
        content,
        turnCount: turns.length,
        arrival: this.#arrival,
        attemptLog: this.#attemptLog,
        route: opened?.planned.route ?? null,
        report: this.#report(request, opened),
        cancelled: this.#clientConnection.left,
      },
      opened?.answer.opened === true,
      this.#deps,
    );
  }

  /** @returns true when the client has a complete, successful answer */
  #respond(
    { failure, isReported }: Settled,
    kept: KeptAnswer | undefined,
    request: CanonicalRequest | undefined,
    opened: Opened | undefined,
  ): boolean {
    if (this.#clientConnection.left) return false;
    const answer = opened?.answer;
    if (answer && !failure) {
      this.#warnOfEmptyAnswer(answer);
      try {
        answer.complete(kept);
        return true;
      } catch (thrown) {
        this.#refuse(this.#failureOf(thrown), request, opened);
        return false;
      }
    }
    if (answer?.opened && isReported) answer.complete();
    else this.#refuse(failure ?? new GatewayError('internal', TEXTS.internal), request, opened);
    return false;
  }

  #refuse(failure: GatewayError, request: CanonicalRequest | undefined, opened: Opened | undefined): void {
    if (opened?.answer.opened) return opened.answer.fail(failure);
    const report = this.#report(request, opened);
    refuse({ arrival: this.#arrival, attemptLog: this.#attemptLog, report }, failure);
  }

  #report(request: CanonicalRequest | undefined, opened: Opened | undefined): Report {
    return opened?.answer.report ?? request?.report ?? new Report();
  }

  /** Logs tokens that were charged without visible content, which is legal but suspicious. */
  #warnOfEmptyAnswer({ by }: ClientAnswer): void {
    if (!by?.meter.isEmpty) return;
    const tokens = by.charge().usage?.output.text ?? 0;
    if (tokens < EMPTY_ANSWER_TOKENS) return;
    const { id } = this.#arrival;
    this.#deps.log.warn('an empty response was billed', { id, endpoint: by.endpoint.slug, tokens });
  }

  /** Error of the request. Internal errors are also logged. */
  #failureOf(thrown: unknown): GatewayError {
    const failure = GatewayError.from(thrown);
    if (failure.kind === 'internal')
      this.#deps.log.error('request failed', { id: this.#arrival.id, error: thrown });
    return failure;
  }
}
