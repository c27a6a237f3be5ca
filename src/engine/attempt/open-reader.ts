// Chooses how one upstream answer is read: by its status, its form and the lane. Every reader stands behind the search for
// credentials, and what keeps anything of the answer behind the count of how much there is.
import type { CanonicalEvent, GatewayError } from '../../canonical/index.ts';
import type { RelayStream, RelayTap } from '../../protocols/index.ts';
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
import type { AttemptOptions } from './attempt-options.ts';
import { isStreamed, unframed } from './event-stream-reader.ts';
import { masked } from './masked-reader.ts';

/** Whoever takes what is read. */
export interface AnswerTaker {
  /** Translate lane. */
  event(event: CanonicalEvent): void;
  /** A sequence of the request ends the answer early. */
  cut(stopSequence: string): void;
  /** Relay lane: the stream, before anything is read of it. */
  relaying(stream: RelayStream): void;
  relayed(bytes: string, ended: boolean, stream: RelayStream): void;
  relayedWhole(body: string, tap: RelayTap): void;
  failed(error: GatewayError): void;
  /** So many characters more were read, which are kept where the answer is; not told of little. */
  grown(chars: number): void;
}

/** The reader of an answer's body, after its content coding was undone. */
export function openReader(
  head: ResponseHead,
  options: AttemptOptions,
  signature: SignatureHeaders | undefined,
  take: AnswerTaker,
): AnswerReader {
  const { endpoint, protocol } = options;
  return unframed(masked(readerOf(head, options, take), endpoint, signature), head, protocol.upstream);
}

function readerOf(head: ResponseHead, options: AttemptOptions, take: AnswerTaker): AnswerReader {
  const { protocol, lane, relayFacts, context, tap } = options;
  const codec = protocol.upstream;
  if (head.status >= 300)
    return errorReader((body) =>
      take.failed(codec.decodeError(head.status, (name) => head.header(name), body)),
    );
  const streamed = isStreamed(head.header('content-type'));
  const failed = (error: GatewayError): void => take.failed(error);
  // Of a whole answer, the bytes were counted as they came.
  const grown = (chars: number): void => {
    if (streamed) take.grown(chars);
  };
  // An answer in another form than was asked for cannot be relayed: the client reads the form that it asked for.
  if (lane !== 'relay' || !protocol.relay || streamed !== options.stream) {
    const wrapped = options.wrap({ on: (event) => take.event(event) }, (sequence) => take.cut(sequence));
    const bounds = new AnswerBounds(wrapped, failed, grown);
    return streamed
      ? bounds.reader(streamReader(codec, bounds, context))
      : wholeReader(codec, bounds, context);
  }
  const bounds = tap && new AnswerBounds(tap, failed, grown);
  if (!streamed) {
    const reader = relayWholeReader({ relay: protocol.relay }, relayFacts, (body, passed) =>
      take.relayedWhole(body, passed),
    );
    return withTap(reader, bounds && wholeReader(codec, bounds, context));
  }
  const stream = protocol.relay.openStream(relayFacts);
  take.relaying(stream);
  const reader = relayStreamReader(stream, (bytes, ended) => take.relayed(bytes, ended, stream));
  return bounds ? bounds.reader(withTap(reader, streamReader(codec, bounds, context))) : reader;
}
