// Answers in AWS's framing, as server-sent events for the readers of everybody's streams: each message becomes one
// event, and an exception inside of the stream the error that it stands for. Knows no protocol's events.
import { asObject, asString, GatewayError, parseJson } from '../../canonical/index.ts';
import type { UpstreamCodec } from '../../protocols/index.ts';
import { EventStreamParser, type EventStreamMessage } from '../../upstream/event-stream.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import type { AnswerReader } from './answer-reader.ts';
import { fromByteString } from '../../lib/byte-string.ts';

const FRAMED = 'application/vnd.amazon.eventstream';
/** Of whole answers. */
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
        // What came before the damage was said.
        if (events !== '') next.data(events);
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
