// Writes the answer to the client: streamed or whole, in the client's protocol or as relayed bytes. The last
// bytes are held back until the records are safe.
import type { CanonicalEvent, EventSink, GatewayError, JsonObject, Usage } from '../../canonical/index.ts';
import { Collector, type CollectedEvents } from '../../canonical/index.ts';
import type { AnswerContext } from '../../protocols/index.ts';
import { AnswerLosses } from './answer-losses.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import type { ClientStream, Encoding } from '../call.ts';
import type { Generation } from '../generation.ts';
import type { ReasoningSeal } from '../adapt/index.ts';

/** Silence after which a stream gets a sign of life, in milliseconds: proxies must not think it dead. */
const KEEP_ALIVE_MS = 10_000;
/** Where the protocol has none of its own, and before the stream has begun. */
const KEEP_ALIVE = ': keep-alive\n\n';
/** The same in a stream that is one JSON array: white space may stand before and after each of its elements. */
const ARRAY_KEEP_ALIVE = '\n';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
const ARRAY_TYPE = { 'content-type': 'application/json' };

/** What the gateway does with an answer, however it is delivered. */
export interface ClientAnswer extends AttemptOutput {
  /** True once something was sent: another endpoint can no longer answer instead. */
  readonly committed: boolean;
  /** True once a failure can only be told inside the answer: the head of a stream was sent, or it holds the failure. */
  readonly opened: boolean;
  /** The whole answer, where it was collected on its way; undefined for one that was relayed, or that nobody keeps. */
  collected(): CollectedEvents | undefined;
  /** A further turn of the same answer is this attempt's. */
  join(by: Attempt): void;
  /**
   * Sends what was held back and ends the answer.
   * @param kept the answer as it was kept, with every member that may ever be asked for; absent: it was not
   */
  complete(kept?: JsonObject): void;
  /** Tells the client that the answer failed, natively in its protocol. */
  fail(error: GatewayError): void;
  /** Called now and then: keeps a silent stream alive. */
  tick(nowMs: number): void;
}

/** What an answer needs of its surroundings. */
export interface AnswerHooks {
  /** Called at the commit, before anything is sent: who serves is now known. */
  readonly committing: (by: Attempt) => void;
  /** Stands in front of the encoder; null where nothing needs sealing. */
  readonly seal: ReasoningSeal | null;
  /** Unix time in seconds. */
  readonly nowSeconds: () => number;
}

/** What a streamed answer needs besides. */
export interface StreamHooks extends AnswerHooks {
  readonly now: () => number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Whether the answer of this attempt is needed after it was sent. */
  readonly keeps: (by: Attempt) => boolean;
}

export class StreamAnswer implements ClientAnswer {
  committed = false;
  readonly #generation: Generation;
  readonly #context: AnswerContext;
  readonly #hooks: StreamHooks;
  #losses: AnswerLosses | undefined;
  #stream: ClientStream | undefined;
  #encoder: EventSink | undefined;
  /** What of the answer came in events. */
  #collector: Collector | undefined;
  #keeps = false;
  #text = '';
  #bytes = '';
  #held = false;
  #usage: Usage | undefined;
  #lastWriteAt: number;

  constructor(generation: Generation, context: AnswerContext, hooks: StreamHooks) {
    this.#generation = generation;
    this.#context = context;
    this.#hooks = hooks;
    this.#lastWriteAt = hooks.now();
  }

  commit(by: Attempt): void {
    // An answer that another attempt completes goes on under the name that it began with.
    if (!this.committed) {
      this.#context.model = by.endpoint.modelId;
      this.#keeps = this.#hooks.keeps(by);
    }
    this.committed = true;
    this.#hooks.committing(by);
    this.#open();
  }

  join(by: Attempt): void {
    this.#hooks.committing(by);
  }

  on(event: CanonicalEvent): void {
    // Made by the first event: what is relayed has none.
    this.#losses ??= lossesOf(this.#generation, { on: (taken) => this.#take(taken) });
    this.#losses.on(event);
  }

  #take(event: CanonicalEvent): void {
    if (event.type === 'error') this.#open();
    if (event.type === 'usage') this.#usage = event.usage;
    if (event.type === 'finish') {
      if (this.#usage) this.#context.costUsd = this.#generation.costUsd();
      this.#context.completedSeconds = this.#hooks.nowSeconds();
    }
    if (this.#keeps) (this.#collector ??= new Collector()).on(event);
    this.#encode(event);
  }

  collected(): CollectedEvents | undefined {
    return this.#collector?.result();
  }

  relay(bytes: string): void {
    this.#bytes += bytes;
  }

  relayWhole(bytes: string): void {
    this.#bytes += bytes;
  }

  finishing(): void {
    this.#held = true;
  }

  flush(): void {
    if (this.#held) return;
    if (this.#bytes !== '') {
      const bytes = this.#bytes;
      this.#bytes = '';
      this.#write(bytes, 'bytes');
    }
    if (this.#text !== '') {
      const text = this.#text;
      this.#text = '';
      this.#write(text, 'text');
    }
  }

  complete(): void {
    this.#held = false;
    this.flush();
    this.#stream?.end();
  }

  fail(error: GatewayError): void {
    this.#open();
    this.#held = false;
    this.#encode({ type: 'error', error });
    this.complete();
  }

  get keeps(): boolean {
    return this.#keeps;
  }

  get opened(): boolean {
    return this.#stream !== undefined;
  }

  tick(nowMs: number): void {
    if (this.#held || nowMs - this.#lastWriteAt < KEEP_ALIVE_MS) return;
    // Without a first byte in time, proxies give up: the head goes out before it is known who will serve.
    this.#open();
    this.#write(this.#keepAlive(), 'text');
  }

  #keepAlive(): string {
    if (this.#context.streamAsArray) return ARRAY_KEEP_ALIVE;
    const { server } = this.#generation.call.protocol;
    return (this.committed ? server.keepAlive : undefined) ?? KEEP_ALIVE;
  }

  #encode(event: CanonicalEvent): void {
    this.#encoder ??= this.#openEncoder();
    this.#encoder.on(event);
  }

  #openEncoder(): EventSink {
    const { server } = this.#generation.call.protocol;
    const encoder = server.encodeStream((frames) => (this.#text += frames), this.#context);
    return this.#hooks.seal?.sink(encoder) ?? encoder;
  }

  #open(): void {
    if (this.#stream) return;
    this.#stream = this.#generation.call.client.openStream({
      ...STREAM_HEADERS,
      ...(this.#context.streamAsArray ? ARRAY_TYPE : {}),
      ...this.#generation.headers(),
    });
    this.#stream.onDrain(this.#hooks.resume);
  }

  #write(data: string, encoding: Encoding): void {
    this.#lastWriteAt = this.#hooks.now();
    if (this.#stream && !this.#stream.write(data, encoding)) this.#hooks.pause();
  }
}

/** An answer that is sent in one piece when it is complete. */
export class WholeAnswer implements ClientAnswer {
  readonly keeps = true;
  readonly committed = false;
  readonly #generation: Generation;
  readonly #context: AnswerContext;
  readonly #hooks: AnswerHooks;
  #collector = new Collector();
  #losses: AnswerLosses | undefined;
  #relayed: string | undefined;
  /** True when the failure of the answer is told in it. */
  #tellsFailure = false;

  constructor(generation: Generation, context: AnswerContext, hooks: AnswerHooks) {
    this.#generation = generation;
    this.#context = context;
    this.#hooks = hooks;
  }

  get opened(): boolean {
    return this.#tellsFailure;
  }

  commit(by: Attempt): void {
    // Nothing was sent yet: what an earlier attempt left is thrown away.
    this.#collector = new Collector();
    this.#losses = undefined;
    this.#relayed = undefined;
    this.#hooks.committing(by);
    this.#context.model = by.endpoint.modelId;
  }

  join(by: Attempt): void {
    this.#hooks.committing(by);
  }

  on(event: CanonicalEvent): void {
    if (event.type === 'error') this.#tellsFailure = true;
    this.#losses ??= lossesOf(this.#generation, this.#collector);
    this.#losses.on(event);
  }

  relay(bytes: string): void {
    this.#relayed = (this.#relayed ?? '') + bytes;
  }

  relayWhole(bytes: string): void {
    this.#relayed = bytes;
  }

  collected(): CollectedEvents | undefined {
    return this.#relayed === undefined ? this.#collector.result() : undefined;
  }

  flush(): void {}

  finishing(): void {}

  complete(kept?: JsonObject): void {
    const { call } = this.#generation;
    const { server } = call.protocol;
    const headers = this.#generation.headers();
    headers['content-type'] = 'application/json';
    if (this.#relayed !== undefined) {
      call.client.respond(200, headers, this.#relayed, 'bytes');
      return;
    }
    // What was kept is the whole answer already: it is not made a second time.
    const include = this.#context.request.state?.include;
    const body = kept && include && server.items?.showResponse(kept, include);
    call.client.respond(200, headers, JSON.stringify(body ?? this.#encoded()), 'text');
  }

  #encoded(): JsonObject {
    const collected = this.#collector.result();
    const events = this.#hooks.seal?.collected(collected) ?? collected;
    // Where the answer is kept, it already says when it was complete.
    this.#context.completedSeconds ??= this.#hooks.nowSeconds();
    if (events.usage) this.#context.costUsd = this.#generation.costUsd();
    return this.#generation.call.protocol.server.encodeResponse(events, this.#context);
  }

  fail(): void {
    throw new TypeError('nothing was sent: the failure is an answer of its own');
  }

  tick(): void {}
}

function lossesOf(generation: Generation, next: EventSink): AnswerLosses {
  return new AnswerLosses(next, generation.call.protocol, () => generation.report);
}
