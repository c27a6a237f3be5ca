// Writes the answer to the client: streamed or whole, in the client's protocol or as relayed bytes. The last bytes are
// held back until the records are stored.
import type { JsonObject } from '../../base/json/index.ts';
import {
  type CanonicalEvent,
  type EventSink,
  type GatewayError,
  type Report,
  type Usage,
  Collector,
  type CollectedEvents,
} from '../../canonical/index.ts';
import type { AnswerContext } from '../../protocols/index.ts';
import { cutHiddenEnd, withoutHiddenEnd } from '../adapt/index.ts';
import { answerHeaders } from './answer-headers.ts';
import { AnswerLosses } from './answer-losses.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Admitted } from '../admit/index.ts';
import type { KeptAnswer } from '../kept-answer.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { ARRAY_STREAM, EVENT_STREAM, type StreamSource, StreamWriter } from './stream-writer.ts';
import type { UnixMs } from '../../base/units.ts';

/** An answer to a client, independent of its delivery. */
export interface ClientAnswer extends AttemptOutput {
  /** Attempt whose answer the client gets; of several turns, the last one. Undefined: none yet. */
  readonly by: Attempt | undefined;
  /** Losses in translation to the client, as far as the answering attempt is known. */
  readonly report: Report;
  /** True once something was sent, so that no other endpoint can answer. */
  readonly committed: boolean;
  /**
   * True once a failure can only be reported inside the answer: the head of a stream was sent, or the answer contains
   * the failure.
   */
  readonly opened: boolean;
  /** The complete answer, if it was collected. Undefined: it was relayed, or is not needed. */
  collected(): CollectedEvents | undefined;
  /** Assigns a further turn of the same answer to this attempt. */
  join(by: Attempt): void;
  /**
   * Sends what was held back and ends the answer.
   * @param kept the stored answer with all optional members; absent: not stored
   */
  complete(kept?: KeptAnswer): void;
  /** Reports the failure to the client in its protocol. */
  fail(error: GatewayError): void;
  /** Called periodically; keeps a silent stream alive. */
  tick(nowMs: UnixMs): void;
}

/** Dependencies of an answer. */
export interface AnswerInput {
  readonly admitted: Admitted;
  readonly attemptLog: AttemptLog;
  /** Updated while the answer is written. */
  readonly context: AnswerContext;
  readonly clock: Pick<Clock, 'now' | 'wall'>;
}

export class StreamAnswer implements ClientAnswer, StreamSource {
  committed = false;
  by: Attempt | undefined;
  readonly #input: AnswerInput;
  readonly #streaming: () => void;
  /** Attempt whose report accompanies the answer. An answer that another attempt completes keeps its first report. */
  #reporter: Attempt | undefined;
  #losses: AnswerLosses | undefined;
  readonly #writer: StreamWriter;
  #encoder: EventSink | undefined;
  /** Collects the part of the answer that arrived as events. */
  #collector: Collector | undefined;
  #keeps = false;
  #usage: Usage | undefined;

  /** @param streaming called when the answering attempt is known, before any of its output is sent */
  constructor(input: AnswerInput, streaming: () => void) {
    this.#input = input;
    this.#streaming = streaming;
    this.#writer = new StreamWriter(input.admitted.arrival.call.client, input.clock.now(), this);
  }

  get headers(): Record<string, string> {
    const { form } = this.#input.context.streamAsArray ? ARRAY_STREAM : EVENT_STREAM;
    return { ...form, ...headersOf(this.#input, this) };
  }

  get keepAlive(): string {
    if (this.#input.context.streamAsArray) return ARRAY_STREAM.keepAlive;
    const { server } = this.#input.admitted.arrival.call.protocol;
    return (this.committed ? server.keepAlive : undefined) ?? EVENT_STREAM.keepAlive;
  }

  get report(): Report {
    return reportOf(this.#reporter, this.#input);
  }

  commit(by: Attempt): void {
    // An answer that another attempt completes keeps its original model name.
    if (!this.committed) {
      this.#input.context.model = by.endpoint.modelId;
      this.#keeps = this.#input.admitted.keeps(by.endpoint);
    }
    this.committed = true;
    this.by = by;
    this.#reporter ??= by;
    this.#streaming();
    this.#writer.open();
  }

  join(by: Attempt): void {
    this.by = by;
    this.#reporter = by;
  }

  on(event: CanonicalEvent): void {
    // Text is never lost, so only items that open, close or finish are checked.
    if (event.type === 'text') return this.#take(event);
    // Created at the first event, because relayed answers have none.
    this.#losses ??= lossesOf(this.#input, this, { on: (taken) => this.#take(taken) });
    this.#losses.on(event);
  }

  #take(event: CanonicalEvent): void {
    if (event.type === 'error') this.#writer.open();
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'finish') {
      if (this.#usage) this.#input.context.costUsd = this.#input.attemptLog.costUsd();
      this.#input.context.completedSeconds = nowSeconds(this.#input.clock);
    }
    if (this.#keeps) (this.#collector ??= new Collector()).on(event);
    this.#encode(event);
  }

  collected(): CollectedEvents | undefined {
    return this.#collector?.result();
  }

  relay(bytes: string): void {
    this.#writer.bytes += bytes;
  }

  relayWhole(): void {
    throw new TypeError('a complete response for a stream');
  }

  finishing(): void {
    this.#writer.hold();
  }

  flush(): void {
    this.#writer.flush();
  }

  complete(): void {
    this.#writer.end();
  }

  fail(error: GatewayError): void {
    this.#writer.open();
    this.#encode({ type: 'error', error });
    this.complete();
  }

  get keeps(): boolean {
    return this.#keeps;
  }

  get opened(): boolean {
    return this.#writer.isOpen;
  }

  tick(nowMs: UnixMs): void {
    this.#writer.tick(nowMs);
  }

  #encode(event: CanonicalEvent): void {
    this.#encoder ??= this.#openEncoder();
    this.#encoder.on(event);
  }

  #openEncoder(): EventSink {
    const { server } = this.#input.admitted.arrival.call.protocol;
    const encoder = server.encodeStream((frames) => (this.#writer.text += frames), this.#input.context);
    const sealed = this.#input.admitted.seal?.sink(encoder) ?? encoder;
    return server.endsInAnswer ? withoutHiddenEnd(sealed, excludesReasoning(this.#input)) : sealed;
  }
}

/** An answer sent as one body when it is complete. */
export class WholeAnswer implements ClientAnswer {
  readonly keeps = true;
  readonly committed = false;
  readonly #input: AnswerInput;
  #by: Attempt | undefined;
  /** Collects the part of the answer that arrived as events; relayed parts have none. */
  #collector: Collector | undefined;
  #losses: AnswerLosses | undefined;
  #relayed: Buffer | undefined;
  /** True when the answer itself reports its failure. */
  #reportsFailure = false;

  constructor(input: AnswerInput) {
    this.#input = input;
  }

  /** Undefined for a failed attempt, because nothing is sent before the answer is complete. */
  get by(): Attempt | undefined {
    return this.#by?.failure ? undefined : this.#by;
  }

  get report(): Report {
    return reportOf(this.by, this.#input);
  }

  get opened(): boolean {
    return this.#reportsFailure;
  }

  commit(by: Attempt): void {
    // Nothing was sent yet, so the output of an earlier attempt is discarded.
    this.#collector = undefined;
    this.#losses = undefined;
    this.#relayed = undefined;
    this.#by = by;
    this.#input.context.model = by.endpoint.modelId;
  }

  join(by: Attempt): void {
    this.#by = by;
  }

  on(event: CanonicalEvent): void {
    this.#collector ??= new Collector();
    if (event.type === 'text') return this.#collector.on(event);
    if (event.type === 'error') this.#reportsFailure = true;
    this.#losses ??= lossesOf(this.#input, this, this.#collector);
    this.#losses.on(event);
  }

  relay(): void {
    throw new TypeError('a stream for a complete response');
  }

  relayWhole(body: Buffer): void {
    this.#relayed = body;
  }

  collected(): CollectedEvents | undefined {
    return this.#relayed === undefined ? this.#result() : undefined;
  }

  flush(): void {}

  finishing(): void {}

  complete(kept?: KeptAnswer): void {
    const { call } = this.#input.admitted.arrival;
    const { server } = call.protocol;
    const headers = headersOf(this.#input, this);
    headers['content-type'] = 'application/json';
    if (this.#relayed !== undefined) {
      call.client.respond(200, headers, this.#relayed);
      return;
    }
    // The stored object is already the complete answer and is not encoded again.
    const include = this.#input.context.request.state?.include;
    const body = kept && include && server.items?.showResponse(kept.response, include);
    const text = body === kept?.response ? kept?.text : undefined;
    call.client.respond(200, headers, text ?? JSON.stringify(body ?? this.#encoded()));
  }

  #result(): CollectedEvents {
    return (this.#collector ?? new Collector()).result();
  }

  #encoded(): JsonObject {
    const { admitted } = this.#input;
    const { server } = admitted.arrival.call.protocol;
    const result = this.#result();
    const collected = server.endsInAnswer ? cutHiddenEnd(result, excludesReasoning(this.#input)) : result;
    const events = admitted.seal?.collected(collected) ?? collected;
    // A stored answer already has its completion time.
    this.#input.context.completedSeconds ??= nowSeconds(this.#input.clock);
    if (events.usage) this.#input.context.costUsd = this.#input.attemptLog.costUsd();
    return server.encodeResponse(events, this.#input.context);
  }

  fail(): void {
    throw new TypeError('nothing was sent yet, so the failure needs a response of its own');
  }

  tick(): void {}
}

function excludesReasoning({ context }: AnswerInput): boolean {
  return context.request.reasoning.exclude === true;
}

function headersOf(
  { admitted, attemptLog }: AnswerInput,
  { by, report }: ClientAnswer,
): Record<string, string> {
  return answerHeaders(admitted.arrival, attemptLog.attempts.length, by, report);
}

/** @param reporter attempt whose report it is. Undefined: no attempt answers, so the latest attempt's report is used */
function reportOf(reporter: Attempt | undefined, { admitted, attemptLog }: AnswerInput): Report {
  return reporter?.report ?? attemptLog.report ?? admitted.request.report;
}

function lossesOf({ admitted }: AnswerInput, answer: ClientAnswer, next: EventSink): AnswerLosses {
  return new AnswerLosses(next, admitted.arrival.call.protocol, () => answer.report);
}

function nowSeconds(clock: AnswerInput['clock']): number {
  return Math.floor(clock.wall() / 1000);
}
