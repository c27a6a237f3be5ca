// Chooses how one upstream answer is read: by its status, its form and the lane. Every reader stands behind the search for
// credentials, and what keeps anything of the answer behind the count of how much there is.
import type { EventSink, GatewayError } from '../../canonical/index.ts';
import type { CodecContext, RelayFacts, RelayStream, RelayTap } from '../../protocols/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { AnswerBounds } from './answer-bounds.ts';
import {
  type AnswerReader,
  errorReader,
  relayStreamReader,
  relayWholeReader,
  streamReader,
  wholeReader,
  withTap,
} from './answer-reader.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';
import { isStreamed, masked, unframed } from './event-reader.ts';
import { preparedEndpoint } from '../prepared-endpoint.ts';

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
