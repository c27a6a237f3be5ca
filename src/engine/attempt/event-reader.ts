// Readers of an answer's bytes: event streams as names and data for a decoder, AWS's framing taken off, secrets masked. Know no
// protocol.
import { FrameSplitter, type TakeFrame, type UpstreamCodec } from '../../protocols/index.ts';
import { fromByteString } from '../../base/lib/byte-string.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { type EventStreamMessage, EventStreamParser } from '../../upstream/event-stream.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import type { AnswerReader } from './answer-reader.ts';
import { EchoFilter, type EchoMask } from '../../base/telemetry/echo-mask.ts';

export class EventReader {
  readonly #frames = new FrameSplitter();
  readonly #take: (event: string, data: string) => void;

  /** @param take called once per event that has data */
  constructor(take: (event: string, data: string) => void) {
    this.#take = take;
  }

  /** Takes the bytes of one read, as a byte string. @throws RangeError when an event is too long */
  push(bytes: string): void {
    this.#frames.push(bytes, this.#frame);
  }

  /** The stream ended: a last event without its blank line is still delivered, as every client library does. */
  end(): void {
    const last = this.#frames.end();
    if (last !== '') this.#frame(last);
  }

  readonly #frame: TakeFrame = (frame) => {
    const isNamed = frame.startsWith(NAME);
    const from = isNamed ? frame.indexOf('\n') + 1 : 0;
    // The usual event: one line of data, perhaps behind its name.
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

// Answers in AWS's framing, as server-sent events for the readers of everybody's streams: each message becomes one event,
// and an exception inside of the stream the error that it stands for.

const FRAMED = 'application/vnd.amazon.eventstream';
/** Content type of whole answers. */
const USUAL = 'application/json';

/** True for the content type of a stream, in whatever framing. */
export function isStreamed(contentType: string | null): boolean {
  if (contentType === null || contentType.startsWith(USUAL)) return false;
  const type = contentType.toLowerCase();
  return type.startsWith('text/event-stream') || type.startsWith(FRAMED);
}

/** The reader of an answer's body, behind one that takes AWS's framing off where the answer has it. */
export function unframed(reader: AnswerReader, head: ResponseHead, codec: UpstreamCodec): AnswerReader {
  if (head.status >= 300) return reader;
  const type = head.header('content-type');
  if (type === null || type.startsWith(USUAL)) return reader;
  return type.toLowerCase().startsWith(FRAMED) ? eventStreamReader(reader, codec) : reader;
}

/** HTTP statuses of exceptions inside of streams (API reference "ConverseStream", `ConverseStreamOutput`). */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['validationException', 400],
  ['modelTimeoutException', 408],
  ['modelStreamErrorException', 424],
  ['throttlingException', 429],
  ['internalServerException', 500],
  ['serviceUnavailableException', 503],
]);

/** The type of an event of Anthropic's, which stands first in what Bedrock wraps. */
const TYPE = /^\s*\{\s*"type"\s*:\s*"(\w+)"/;

/**
 * A reader that takes the framing off.
 * @param next reads server-sent events
 * @param codec says what an exception means
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
        // Events before the damage are valid.
        if (events !== '') next.data(Buffer.from(events, 'latin1'));
      }
    },
    end() {
      parser.end();
      next.end();
    },
  };
}

/** Byte string. Bedrock wraps the bodies of other vendors' protocols as `{"bytes": base64}` in events of type `chunk`. */
function toServerSentEvent({ headers, payload }: EventStreamMessage): string {
  const type = headers.get(':event-type') ?? '';
  if (type !== 'chunk') return `event: ${type}\ndata: ${oneLine(payload)}\n\n`;
  const wrapped = asString(asObject(parseJson(payload))['bytes']);
  if (wrapped === undefined)
    throw new GatewayError('upstream_unavailable', 'the upstream sent a chunk without bytes');
  const inner = Buffer.from(wrapped, 'base64').toString('latin1');
  return `event: ${TYPE.exec(inner)?.[1] ?? ''}\ndata: ${oneLine(inner)}\n\n`;
}

/** JSON has line breaks only between its tokens, where a space is as good. */
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

// Stands before the reader of an upstream's answer, in both lanes: what the request proved its sender with reaches neither
// a client nor anything that is kept.

/** The same reader behind a search for the credentials that were sent, by their exact values; null: there is none. */
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
}
