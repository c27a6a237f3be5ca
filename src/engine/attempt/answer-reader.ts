// Readers of an upstream answer: bytes in, canonical events or relayed bytes out. The reader depends on status, content
// type and lane.
import {
  type EventSink,
  GatewayError,
  MAX_ANSWER_BYTES,
  MAX_ERROR_BYTES,
  TEXTS,
} from '../../canonical/index.ts';
import {
  type CodecContext,
  parseAnswer,
  type Protocol,
  type RelayFacts,
  type RelayStream,
  type RelayTap,
  type UpstreamCodec,
} from '../../protocols/index.ts';
import { STEP_BYTES } from '../call.ts';
import { EventReader, isStreamed, masked, unframed } from './event-reader.ts';
import { joined } from '../../base/lib/bytes.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { AnswerBounds } from './answer-bounds.ts';
import { formReader } from './answer-form.ts';
import { errorHeaders } from './error-headers.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';

/** Receives the bytes of an answer as they arrive. */
export interface AnswerReader {
  data(bytes: Buffer): void;
  /** The answer's body is complete. */
  end(): void;
  /** Called instead of `end` if the answer is interrupted. Reads counts that wait for the end. */
  interrupt?(): void;
}

/** Receives the decoded events of a stream. */
export interface FrameSink extends EventSink {
  /** Called before an event that is large enough to be accounted separately, with its characters. */
  large?(chars: number): void;
}

/** Decodes an event stream. */
export function streamReader(codec: UpstreamCodec, sink: FrameSink, context: CodecContext): AnswerReader {
  const decoder = codec.decodeStream(sink, context);
  const events = new EventReader((event, data) => {
    if (data.length >= STEP_BYTES) sink.large?.(data.length);
    decoder.frame(event, data);
  });
  return {
    data: (bytes) => events.push(bytes.toString('latin1')),
    end() {
      events.end();
      decoder.end();
    },
    interrupt: () => decoder.interrupt?.(),
  };
}

/**
 * Decodes a whole answer.
 * @param type content type
 */
export function wholeReader(
  codec: UpstreamCodec,
  sink: EventSink,
  context: CodecContext,
  type: string | null = null,
): AnswerReader {
  return bodyReader(MAX_ANSWER_BYTES, (body) => {
    if (codec.text && isOneOf(codec.text.types, type)) return codec.text.decode(body.toString(), sink);
    const json = parseAnswer(body.toString());
    if (json !== undefined) return codec.decodeResponse(json, sink, context);
    const what = body.toString().trim() === '' ? 'an empty body' : 'a body that is not JSON';
    throw new GatewayError('upstream_unavailable', TEXTS.upstreamAnswered(what));
  });
}

/** True for a content type of one of these media types, ignoring parameters. */
export function isOneOf(types: readonly string[], contentType: string | null): boolean {
  const [type = ''] = (contentType ?? '').split(';');
  return types.includes(type.trim().toLowerCase());
}

/** Collects the body of an error and passes its text to `done`. */
export function errorReader(done: (body: string) => void): AnswerReader {
  return bodyReader(MAX_ERROR_BYTES, (body) => done(body.toString()), 'truncate');
}

/**
 * Relays a whole answer.
 * @param take receives the patched bytes
 * @param copy receives the parsed answer before that
 */
function relayWholeReader(
  { relay }: Required<Pick<Protocol, 'relay'>>,
  facts: RelayFacts,
  take: { relayedWhole(body: Buffer, tap: RelayTap): void },
  copy: ((json: unknown) => void) | null,
): AnswerReader {
  return bodyReader(MAX_ANSWER_BYTES, (body) => {
    const json = parseAnswer(body.toString());
    if (copy) quietly(() => copy(json));
    const answer = relay.patchResponse(body, json, facts);
    take.relayedWhole(joined(answer.body), answer.tap);
  });
}

/** Relays a stream. `progress` is called after each read with the bytes to send. */
function relayStreamReader(
  stream: RelayStream,
  progress: (bytes: string, ended: boolean) => void,
): AnswerReader {
  let over = false;
  return {
    data(bytes) {
      if (over) return;
      const out = stream.push(bytes.toString('latin1'));
      over = stream.done || stream.error !== undefined;
      progress(over && !stream.error ? out + stream.end() : out, over);
    },
    end() {
      if (over) return;
      over = true;
      progress(stream.end(), true);
    },
    interrupt: () => stream.interrupt?.(),
  };
}

/** Collects a whole body. A larger one fails, or is truncated. */
export function bodyReader(
  maxBytes: number,
  done: (body: Buffer) => void,
  excess: 'fail' | 'truncate' = 'fail',
): AnswerReader {
  return new BodyCollector(maxBytes, done, excess);
}

class BodyCollector implements AnswerReader {
  readonly #maxBytes: number;
  readonly #done: (body: Buffer) => void;
  readonly #excess: 'fail' | 'truncate';
  readonly #pieces: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number, done: (body: Buffer) => void, excess: 'fail' | 'truncate') {
    this.#maxBytes = maxBytes;
    this.#done = done;
    this.#excess = excess;
  }

  data(bytes: Buffer): void {
    if (this.#size > this.#maxBytes) return;
    this.#size += bytes.length;
    this.#pieces.push(bytes);
    if (this.#size <= this.#maxBytes) return;
    if (this.#excess === 'fail')
      throw new GatewayError(
        'upstream_unavailable',
        `the upstream's response is larger than ${this.#maxBytes} bytes`,
      );
    // The rest is not needed.
    this.#done(joined(this.#pieces).subarray(0, this.#maxBytes));
  }

  end(): void {
    if (this.#size <= this.#maxBytes) this.#done(joined(this.#pieces));
  }
}

/** Passes the same bytes to a second reader, whose failures never affect the answer. */
function withTap(reader: AnswerReader, copy: AnswerReader | null): AnswerReader {
  if (!copy) return reader;
  return {
    data(bytes) {
      quietly(() => copy.data(bytes));
      reader.data(bytes);
    },
    end() {
      quietly(() => copy.end());
      reader.end();
    },
    interrupt() {
      quietly(() => copy.interrupt?.());
      reader.interrupt?.();
    },
  };
}

/** Runs what serves only the records, and must not change how the answer ends. */
export function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // The main reader detects errors.
  }
}

// Selection of a reader by status, form and lane. Every reader is behind the credential mask, and readers that keep
// content are behind the size limits.

/** Receives what is read; events only in the translate lane. */
export interface ReadAnswer extends EventSink {
  /** A stop sequence of the request ended the answer. */
  cut(stopSequence: string): void;
  /** Relay lane: called with the stream before anything is read from it. */
  relaying(stream: RelayStream): void;
  relayed(bytes: string, ended: boolean, stream: RelayStream): void;
  relayedWhole(body: Buffer, tap: RelayTap): void;
  refused(error: GatewayError): void;
  /** Number of further characters read, which count if the answer is kept. Small amounts are not reported. */
  grown(chars: number): void;
}

/** Tools and context with which an answer is read. */
export interface Reading {
  /** Receives every event of a relayed answer. Null: not needed. */
  readonly tap: EventSink | null;
  readonly services: Pick<AttemptServices, 'clock' | 'redact'>;
  /** Headers that were added to the request. Undefined: only the fixed one. */
  readonly signature: SignatureHeaders | undefined;
}

/** Returns the reader of an answer's body after content decoding. */
export function openReader(
  head: ResponseHead,
  input: AttemptInput,
  reading: Reading,
  take: ReadAnswer,
): AnswerReader {
  const { endpoint, protocol } = input.prepared;
  const mask = preparedEndpoint(endpoint).mask(reading.signature);
  return unframed(masked(readerOf(head, input, reading, take), mask), head, protocol.upstream);
}

function readerOf(head: ResponseHead, input: AttemptInput, reading: Reading, take: ReadAnswer): AnswerReader {
  const codec = input.prepared.protocol.upstream;
  if (head.status >= 300) {
    const header = errorHeaders(head, codec, reading.services.clock);
    return errorReader((body) => take.refused(codec.decodeError(head.status, header, body)));
  }
  const type = head.header('content-type');
  const open = (streamed: boolean): AnswerReader => contentReader(streamed, type, input, reading, take);
  if (codec.text && isOneOf(codec.text.types, type)) return open(false);
  return formReader(isStreamed(type), open);
}

/** Returns the reader of a successful answer. @param type its content type */
function contentReader(
  streamed: boolean,
  type: string | null,
  input: AttemptInput,
  reading: Reading,
  take: ReadAnswer,
): AnswerReader {
  const { prepared } = input;
  const { tap } = reading;
  const { protocol } = prepared;
  const codec = protocol.upstream;
  // An answer cannot be relayed if it is streamed and the client wants it whole, or the reverse.
  if (prepared.lane !== 'relay' || !protocol.relay || streamed !== prepared.request.stream) {
    const wrapped = prepared.wrap(take, (sequence) => take.cut(sequence));
    const bounds = bounded(wrapped, streamed, take);
    const context = codecContext(reading.services.clock);
    return streamed
      ? bounds.reader(streamReader(codec, bounds, context))
      : wholeReader(codec, bounds, context, type);
  }
  const bounds = tap && bounded(tap, streamed, take);
  const facts = relayFacts(input, reading);
  if (!streamed) {
    const context = codecContext(reading.services.clock);
    const copy = bounds && ((json: unknown): void => codec.decodeResponse(json, bounds, context));
    return relayWholeReader({ relay: protocol.relay }, facts, take, copy);
  }
  const stream = protocol.relay.openStream(facts);
  take.relaying(stream);
  const reader = relayStreamReader(stream, (bytes, ended) => take.relayed(bytes, ended, stream));
  return bounds
    ? bounds.reader(withTap(reader, streamReader(codec, bounds, codecContext(reading.services.clock))))
    : reader;
}

function bounded(sink: EventSink, streamed: boolean, take: ReadAnswer): AnswerBounds {
  return new AnswerBounds(
    sink,
    (error) => take.refused(error),
    (chars) => {
      // The bytes of a whole answer were already counted on arrival.
      if (streamed) take.grown(chars);
    },
  );
}

function codecContext(clock: Clock): CodecContext {
  return { newId, nowSeconds: () => Math.floor(clock.wall() / 1000) };
}

function relayFacts({ prepared, requester }: AttemptInput, { services }: Reading): RelayFacts {
  const { endpoint, request } = prepared;
  return {
    id: requester.arrival.id,
    model: endpoint.modelId,
    store: request.state?.store,
    follows: request.follows?.id,
    background: request.background,
    isBackground: request.state?.background,
    showUsage: request.streamUsage === true || request.gateway.includeUsage === true,
    redact: services.redact,
  };
}
