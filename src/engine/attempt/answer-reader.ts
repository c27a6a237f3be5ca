// Readers of one upstream answer: bytes in, canonical events (or relayed bytes) out. Which one an attempt uses
// depends on the status, the content type and the lane.
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
import { joined } from '../../base/lib/slices.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { AnswerBounds } from './answer-bounds.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';

/** Takes the bytes of an answer as they arrive. */
export interface AnswerReader {
  data(bytes: Buffer): void;
  /** The answer's body is complete. */
  end(): void;
}

/** Takes what is decoded of an event stream. */
export interface FrameSink extends EventSink {
  /** Told before an event that is worth counting by itself, in characters. */
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
  };
}

/** Decodes a whole answer. @param type its content type */
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

/** True for a content type of one of these media types, whatever its parameters. */
export function isOneOf(types: readonly string[], contentType: string | null): boolean {
  const [type = ''] = (contentType ?? '').split(';');
  return types.includes(type.trim().toLowerCase());
}

/** Collects an error answer; `done` gets its text. */
export function errorReader(done: (body: string) => void): AnswerReader {
  return bodyReader(MAX_ERROR_BYTES, (body) => done(body.toString()), 'truncate');
}

/** Relays a whole answer. @param take gets the patched bytes; @param copy gets the answer, parsed, before that */
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

/** Relays a stream: `progress` is called after each read with the bytes that may go on. */
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
  };
}

/** Collects a whole body, and fails, or goes on with its beginning, where it has more bytes. */
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
        `the upstream's answer is larger than ${this.#maxBytes} bytes`,
      );
    // Nobody waits for the rest of it.
    this.#done(joined(this.#pieces).subarray(0, this.#maxBytes));
  }

  end(): void {
    if (this.#size <= this.#maxBytes) this.#done(joined(this.#pieces));
  }
}

/** A reader that shows the same bytes to a second one; a failure of the copy never disturbs the answer. */
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
  };
}

function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // The copy is for the records; the answer itself is judged where it is read.
  }
}

// Chooses how one upstream answer is read: by its status, its form and the lane. Every reader stands behind the search for
// credentials, and what keeps anything of the answer behind the count of how much there is.

/** Sink of what is read; events in the translate lane. */
export interface ReadAnswer extends EventSink {
  /** A sequence of the request ends the answer early. */
  cut(stopSequence: string): void;
  /** Relay lane: the stream, before anything is read of it. */
  relaying(stream: RelayStream): void;
  relayed(bytes: string, ended: boolean, stream: RelayStream): void;
  relayedWhole(body: Buffer, tap: RelayTap): void;
  refused(error: GatewayError): void;
  /** So many characters more were read, which are kept where the answer is; not told of little. */
  grown(chars: number): void;
}

/** Tools and context with which an answer is read. */
export interface Reading {
  /** Sees every event of an answer that is relayed; null where nobody asks for them. */
  readonly tap: EventSink | null;
  readonly services: Pick<AttemptServices, 'clock' | 'redact'>;
  /** Headers that were added to the request; undefined where a fixed one is all. */
  readonly signature: SignatureHeaders | undefined;
}

/** The reader of an answer's body, after its content coding was undone. */
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
  const { prepared } = input;
  const { tap } = reading;
  const { protocol } = prepared;
  const codec = protocol.upstream;
  if (head.status >= 300)
    return errorReader((body) =>
      take.refused(codec.decodeError(head.status, (name) => head.header(name), body)),
    );
  const streamed = isStreamed(head.header('content-type'));
  // An answer in another form than was asked for cannot be relayed: the client reads the form that it asked for.
  if (prepared.lane !== 'relay' || !protocol.relay || streamed !== prepared.request.stream) {
    const wrapped = prepared.wrap(take, (sequence) => take.cut(sequence));
    const bounds = bounded(wrapped, streamed, take);
    const context = codecContext(reading.services.clock);
    return streamed
      ? bounds.reader(streamReader(codec, bounds, context))
      : wholeReader(codec, bounds, context, head.header('content-type'));
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
      // The bytes of a whole answer were counted as they came.
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
