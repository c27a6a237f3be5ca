// Readers of one upstream answer: bytes in, canonical events (or relayed bytes) out. Which one an attempt uses
// depends on the status, the content type and the lane.
import type { EventSink } from '../../canonical/index.ts';
import { GatewayError, MAX_ANSWER_BYTES, MAX_ERROR_BYTES, TEXTS } from '../../canonical/index.ts';
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
import { joined } from '../../base/lib/slices.ts';

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
export function relayWholeReader(
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
export function relayStreamReader(
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
export function withTap(reader: AnswerReader, copy: AnswerReader | null): AnswerReader {
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
