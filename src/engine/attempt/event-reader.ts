// Event streams: splits an answer's bytes into event names and data for a decoder.
import { eventFrame } from '../../base/lib/event-stream.ts';
import { FrameSplitter, type TakeFrame, type UpstreamCodec } from '../../protocols/index.ts';
import { fromByteString } from '../../base/lib/bytes.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { type EventStreamMessage, EventStreamParser } from '../../upstream/event-stream.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import type { AnswerReader } from './answer-reader.ts';
import { EchoFilter, type EchoMask } from '../../base/telemetry/echo-mask.ts';

export class EventReader {
  readonly #frames = new FrameSplitter();
  readonly #take: (event: string, data: string) => void;

  /** @param take called once for each event with data */
  constructor(take: (event: string, data: string) => void) {
    this.#take = take;
  }

  /**
   * Consumes the bytes of one read, as a byte string.
   * @throws RangeError when an event is too long
   */
  push(bytes: string): void {
    this.#frames.push(bytes, this.#frame);
  }

  /** Ends the stream. A last event without its blank line is still delivered, as in every client library. */
  end(): void {
    const last = this.#frames.end();
    if (last !== '') this.#frame(last);
  }

  readonly #frame: TakeFrame = (frame) => {
    const isNamed = frame.startsWith(NAME);
    const from = isNamed ? frame.indexOf('\n') + 1 : 0;
    // Fast path: one line of data, optionally after the name.
    const isUsual = frame.startsWith(DATA, from) && frame.indexOf('\n', from) === frame.length - 2;
    if (!isUsual || frame.includes('\r')) this.#lines(frame);
    else {
      const event = isNamed ? frame.slice(NAME.length, from - 1).trim() : '';
      this.#take(event, fromByteString(frame.slice(from + DATA.length, -2)));
    }
    return true;
  };

  #lines(frame: string): void {
    let event = '';
    let data: string | undefined;
    for (const line of frame.split(/\r\n|\r|\n/)) {
      if (line.startsWith('data:')) {
        const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5);
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (line.startsWith('event:')) {
        event = line.slice(6).trim();
      }
    }
    if (data !== undefined) this.#take(event, fromByteString(data));
  }
}

const NAME = 'event: ';
const DATA = 'data: ';
const SPACE = 32;

// AWS event-stream framing: converts each message to a server-sent event, and an exception inside the stream to an
// error.

const FRAMED = 'application/vnd.amazon.eventstream';
/** Content type of whole answers. */
const USUAL = 'application/json';

/** True for the content type of a stream in either framing. */
export function isStreamed(contentType: string | null): boolean {
  if (contentType === null || contentType.startsWith(USUAL)) return false;
  const type = contentType.toLowerCase();
  return type.startsWith('text/event-stream') || type.startsWith(FRAMED);
}

/** Wraps the reader so that AWS framing is removed, if the answer has it. */
export function unframed(reader: AnswerReader, head: ResponseHead, codec: UpstreamCodec): AnswerReader {
  if (head.status >= 300) return reader;
  const type = head.header('content-type');
  if (type === null || type.startsWith(USUAL)) return reader;
  return type.toLowerCase().startsWith(FRAMED) ? eventStreamReader(reader, codec) : reader;
}

/** HTTP statuses of exceptions inside streams (API reference "ConverseStream", `ConverseStreamOutput`). */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['validationException', 400],
  ['modelTimeoutException', 408],
  ['modelStreamErrorException', 424],
  ['throttlingException', 429],
  ['internalServerException', 500],
  ['serviceUnavailableException', 503],
]);

/** Type of an Anthropic event, the first member in the JSON that Bedrock wraps. */
const TYPE = /^\s*\{\s*"type"\s*:\s*"(\w+)"/;

/**
 * Returns a reader that removes the framing.
 * @param next reads server-sent events
 * @param codec decodes exceptions
 */
function eventStreamReader(next: AnswerReader, codec: UpstreamCodec): AnswerReader {
  let events = '';
  const parser = new EventStreamParser((message) => {
    if (message.headers.get(':message-type') !== 'event') throw exceptionOf(message, codec);
    events += toServerSentEvent(message);
  });
  return {
    data(bytes) {
      events = '';
      try {
        parser.push(bytes);
      } finally {
        // Events before the corrupt part are valid.
        if (events !== '') next.data(Buffer.from(events, 'latin1'));
      }
    },
    end() {
      parser.end();
      next.end();
    },
    interrupt: () => next.interrupt?.(),
  };
}

/**
 * Returns a byte string. Bedrock wraps bodies of other vendors' protocols as `{"bytes": base64}` in events of type
 * `chunk`.
 */
function toServerSentEvent({ headers, payload }: EventStreamMessage): string {
  const type = headers.get(':event-type') ?? '';
  if (type !== 'chunk') return eventFrame(type, oneLine(payload));
  const wrapped = asString(asObject(parseJson(payload))['bytes']);
  if (wrapped === undefined)
    throw new GatewayError('upstream_unavailable', 'the upstream sent a chunk without bytes');
  const inner = Buffer.from(wrapped, 'base64').toString('latin1');
  return eventFrame(TYPE.exec(inner)?.[1] ?? '', oneLine(inner));
}

/** JSON contains line breaks only between tokens, where a space is equivalent. */
function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
}

function exceptionOf({ headers, payload }: EventStreamMessage, codec: UpstreamCodec): GatewayError {
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  const words = payload || JSON.stringify({ message: headers.get(':error-message') ?? type });
  const header = (name: string): string | null =>
    name === 'x-amzn-errortype' ? type : name === 'content-type' ? 'application/json' : null;
  return codec.decodeError(STATUSES.get(type) ?? 500, header, fromByteString(words));
}

// Credential masking, in both lanes: credentials echoed by an upstream reach neither clients nor storage.

/** Wraps the reader with a search for the exact credentials that were sent. Null: there are none. */
export function masked(reader: AnswerReader, mask: EchoMask | null): AnswerReader {
  return mask ? new MaskedReader(reader, mask) : reader;
}

class MaskedReader implements AnswerReader {
  readonly #reader: AnswerReader;
  readonly #filter: EchoFilter;

  constructor(reader: AnswerReader, mask: EchoMask) {
    this.#reader = reader;
    this.#filter = new EchoFilter(mask);
  }

  data(bytes: Buffer): void {
    const safe = this.#filter.push(bytes);
    if (safe.length > 0) this.#reader.data(safe);
  }

  end(): void {
    const rest = this.#filter.end();
    if (rest.length > 0) this.#reader.data(rest);
    this.#reader.end();
  }

  interrupt(): void {
    this.#reader.interrupt?.();
  }
}
