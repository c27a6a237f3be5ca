// AWS event-stream framing, `application/vnd.amazon.eventstream`: length-prefixed messages with typed headers and a
// payload, protected by checksums. Source: "Amazon Event Stream Encoding" (docs.aws.amazon.com, Transcribe streaming;
// smithy.io, "Event streams").
import { crc32 } from 'node:zlib';
import { joined } from '../base/lib/bytes.ts';

/** One message. Header names keep their colon: `:event-type`, `:message-type`, `:exception-type`. */
export interface EventStreamMessage {
  /** String headers; those of other types are omitted. */
  readonly headers: ReadonlyMap<string, string>;
  /** Byte string. */
  readonly payload: string;
}

/** Lengths of message and headers, and the checksum of both. */
const PRELUDE = 12;
const CHECKSUM = 4;
/** Maximum size of a message from AWS ("Event stream encoding": payload 16 MB, headers 128 KB). */
const MAX_MESSAGE = 16 * 1024 * 1024 + 128 * 1024 + PRELUDE + CHECKSUM;
/** Lengths of header values by type; other types contain their length. Type 7 is a string. */
const FIXED: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const TEXT = 7;

/** Splits a byte stream into messages. */
export class EventStreamParser {
  readonly #take: (message: EventStreamMessage) => void;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Bytes required for the next step: a prelude, then the whole message. */
  #needed = PRELUDE;

  constructor(take: (message: EventStreamMessage) => void) {
    this.#take = take;
  }

  /** @throws RangeError for corrupt data: a wrong checksum or impossible lengths */
  push(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#size += bytes.length;
    if (this.#size < this.#needed) return;
    const buffer = joined(this.#pieces);
    let at = 0;
    this.#needed = PRELUDE;
    while (buffer.length - at >= PRELUDE) {
      const length = messageLength(buffer, at);
      if (buffer.length - at < length) {
        this.#needed = length;
        break;
      }
      this.#take(readMessage(buffer.subarray(at, at + length)));
      at += length;
    }
    this.#pieces = at === buffer.length ? [] : [buffer.subarray(at)];
    this.#size = buffer.length - at;
  }

  /** Ends the stream. @throws RangeError when it ends within a message */
  end(): void {
    if (this.#size > 0) throw new RangeError('the event stream ends in the middle of a message');
  }
}

function messageLength(buffer: Buffer, at: number): number {
  if (crc32(buffer.subarray(at, at + 8)) !== buffer.readUInt32BE(at + 8))
    throw new RangeError('the event stream is corrupt: wrong prelude checksum');
  const length = buffer.readUInt32BE(at);
  const headers = buffer.readUInt32BE(at + 4);
  if (length > MAX_MESSAGE || headers > length - PRELUDE - CHECKSUM)
    throw new RangeError('the event stream is corrupt: invalid message length');
  return length;
}

function readMessage(message: Buffer): EventStreamMessage {
  const end = message.length - CHECKSUM;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end))
    throw new RangeError('the event stream is corrupt: wrong message checksum');
  const payloadAt = PRELUDE + message.readUInt32BE(4);
  return {
    headers: readHeaders(message.subarray(PRELUDE, payloadAt)),
    payload: message.toString('latin1', payloadAt, end),
  };
}

function readHeaders(block: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < block.length) {
    const nameEnd = at + 1 + (block[at] ?? 0);
    const type = block[nameEnd];
    const fixed = type === undefined ? undefined : FIXED[type];
    const isSized = type === TEXT || type === TEXT - 1;
    if (type === undefined || (fixed === undefined && !isSized) || (isSized && nameEnd + 3 > block.length))
      throw new RangeError('the event stream is corrupt: invalid header');
    const valueAt = nameEnd + (isSized ? 3 : 1);
    const valueEnd = valueAt + (fixed ?? block.readUInt16BE(nameEnd + 1));
    if (valueEnd > block.length) throw new RangeError('the event stream is corrupt: invalid header');
    if (type === TEXT)
      headers.set(block.toString('utf8', at + 1, nameEnd), block.toString('utf8', valueAt, valueEnd));
    at = valueEnd;
  }
  return headers;
}
