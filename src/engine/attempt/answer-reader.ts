// Readers of one upstream answer: bytes in, canonical events (or relayed bytes) out. Which one an attempt uses
// depends on the status, the content type and the lane.
import type { EventSink } from '../../canonical/index.ts';
import { GatewayError, MAX_ANSWER_BYTES, MAX_ERROR_BYTES } from '../../canonical/index.ts';
import type {
  CodecContext,
  RelayFacts,
  RelayStream,
  RelayTap,
  UpstreamCodec,
  Protocol,
} from '../../protocols/index.ts';
import { parseAnswer } from '../../protocols/index.ts';
import { STEP_BYTES } from '../held-bytes.ts';
import { EventReader } from './event-reader.ts';
import { fromByteString } from '../../lib/byte-string.ts';

/** Takes the bytes of an answer as they arrive. Byte strings. */
export interface AnswerReader {
  data(bytes: string): void;
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
    data: (bytes) => events.push(bytes),
    end() {
      events.end();
      decoder.end();
    },
  };
}

/** Decodes a whole answer. */
export function wholeReader(codec: UpstreamCodec, sink: EventSink, context: CodecContext): AnswerReader {
  return bodyReader(MAX_ANSWER_BYTES, (body) => codec.decodeResponse(parseWhole(body), sink, context));
}

/** Collects an error answer; `done` gets its text. */
export function errorReader(done: (body: string) => void): AnswerReader {
  return bodyReader(MAX_ERROR_BYTES, (body) => done(fromByteString(body)), 'truncate');
}

/** Relays a whole answer. @param take gets the patched bytes */
export function relayWholeReader(
  { relay }: Required<Pick<Protocol, 'relay'>>,
  facts: RelayFacts,
  take: { relayedWhole(body: string, tap: RelayTap): void },
): AnswerReader {
  return bodyReader(MAX_ANSWER_BYTES, (body) => {
    const answer = relay.patchResponse(body, facts);
    take.relayedWhole(answer.body, answer.tap);
  });
}

/** Relays a stream: `progress` is called after each read with the bytes that may go on. */
export function relayStreamReader(
  stream: RelayStream,
  progress: (bytes: string, ended: boolean) => void,
): AnswerReader {
  let over = false;
  return {
    data(bytes) {
      if (over) return;
      const out = stream.push(bytes);
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
  done: (body: string) => void,
  excess: 'fail' | 'truncate' = 'fail',
): AnswerReader {
  return new BodyCollector(maxBytes, done, excess);
}

class BodyCollector implements AnswerReader {
  readonly #maxBytes: number;
  readonly #done: (body: string) => void;
  readonly #excess: 'fail' | 'truncate';
  /** One read holds the whole of the usual answer: a list is made for more. */
  #first = '';
  #more: string[] | undefined;
  #size = 0;

  constructor(maxBytes: number, done: (body: string) => void, excess: 'fail' | 'truncate') {
    this.#maxBytes = maxBytes;
    this.#done = done;
    this.#excess = excess;
  }

  data(bytes: string): void {
    if (this.#size > this.#maxBytes) return;
    this.#size += bytes.length;
    if (this.#first === '') this.#first = bytes;
    else (this.#more ??= [this.#first]).push(bytes);
    if (this.#size <= this.#maxBytes) return;
    if (this.#excess === 'fail')
      throw new GatewayError(
        'upstream_unavailable',
        `the upstream's answer is larger than ${this.#maxBytes} bytes`,
      );
    // Nobody waits for the rest of it.
    this.#done(this.#whole().slice(0, this.#maxBytes));
  }

  end(): void {
    if (this.#size <= this.#maxBytes) this.#done(this.#whole());
  }

  #whole(): string {
    return this.#more?.join('') ?? this.#first;
  }
}

function parseWhole(body: string): unknown {
  const json = parseAnswer(fromByteString(body));
  if (json !== undefined) return json;
  const what = body.trim() === '' ? 'an empty body' : 'a body that is not JSON';
  throw new GatewayError('upstream_unavailable', `the upstream answered with ${what}`);
}

/** A reader that shows the same bytes to a second one; a failure of the copy never disturbs the answer. */
export function withTap(reader: AnswerReader, copy: AnswerReader | null): AnswerReader {
  if (!copy) return reader;
  const quietly = (run: () => void): void => {
    try {
      run();
    } catch {
      // The copy is for the records; the answer itself was judged by the first reader.
    }
  };
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
