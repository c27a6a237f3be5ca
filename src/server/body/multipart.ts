// Streaming parser of `multipart/form-data` (RFC 7578). Never holds a whole part.
import { GatewayError } from '../../canonical/index.ts';

export interface PartHead {
  readonly name: string;
  /** Undefined: a plain field. */
  readonly filename: string | undefined;
  /** As the sender wrote it; defaults are in RFC 7578 section 4.4. */
  readonly mediaType: string;
}

/** Receives the bytes of one part in order. An exception ends the parsing. */
export type PartSink = (bytes: Uint8Array) => void | Promise<void>;

const MAX_HEAD = 16 * 1024;
const MAX_PARTS = 32;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Parses a whole body.
 * @param contentType the request's header
 * @param open called at the beginning of each part
 * @throws GatewayError `invalid_request` for an invalid body, and errors of the sinks. Both only after the body was
 * read to its end, because a client that is still writing would see a reset connection instead of the response
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  open: (head: PartHead) => PartSink,
): Promise<void> {
  let reading: MultipartReader | undefined;
  let failure: GatewayError | undefined;
  try {
    reading = new MultipartReader(boundaryOf(contentType), open);
  } catch (error) {
    failure = GatewayError.from(error);
  }
  for await (const bytes of body) {
    if (failure) continue;
    try {
      await reading?.push(bytes);
    } catch (error) {
      failure = GatewayError.from(error);
    }
  }
  if (!failure && reading?.done !== true) failure = malformed('the body ends unexpectedly');
  if (failure) throw failure;
}

class MultipartReader {
  readonly #delimiter: Buffer;
  readonly #open: (head: PartHead) => PartSink;
  /** Unread bytes, in a store that may have free capacity at its end. */
  #buffer: Buffer;
  #store: Buffer;
  /** Bytes of the buffer that contain no end of a head. */
  #searched = 0;
  #state: 'first' | 'preamble' | 'delimiter' | 'head' | 'start' | 'body' | 'done' = 'first';
  #sink: PartSink = () => {};
  #parts = 0;

  constructor(boundary: string, open: (head: PartHead) => PartSink) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#open = open;
    this.#buffer = this.#store = Buffer.alloc(0);
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  async push(bytes: Uint8Array): Promise<void> {
    this.#append(bytes);
    while (await this.#step());
  }

  /**
   * Bytes passed in or to sinks are never overwritten, and copied only to append to others. Capacity doubles, so that a
   * fragmented head is copied at most twice.
   */
  #append(bytes: Uint8Array): void {
    const held = this.#buffer.length;
    if (held === 0) {
      this.#buffer = this.#store = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      return;
    }
    const end = this.#buffer.byteOffset - this.#store.byteOffset + held;
    if (end + bytes.length <= this.#store.length) {
      this.#store.set(bytes, end);
      this.#buffer = this.#store.subarray(end - held, end + bytes.length);
      return;
    }
    this.#store = Buffer.alloc(2 * held + bytes.length);
    this.#store.set(this.#buffer);
    this.#store.set(bytes, held);
    this.#buffer = this.#store.subarray(0, held + bytes.length);
  }

  /** False when more bytes are needed. */
  async #step(): Promise<boolean> {
    switch (this.#state) {
      case 'first':
        return this.#readFirst();
      case 'preamble':
      case 'body':
        return this.#readBody();
      case 'delimiter':
        return this.#readDelimiter();
      case 'head':
        return this.#readHead();
      case 'start':
        return this.#readStart();
      case 'done':
        this.#buffer = this.#store = Buffer.alloc(0);
        return false;
    }
  }

  /** The first delimiter need not follow a line break. */
  #readFirst(): boolean {
    const delimiter = this.#delimiter.subarray(2);
    const start = this.#buffer.subarray(0, delimiter.length);
    const isDelimiter = start.equals(delimiter.subarray(0, start.length));
    if (isDelimiter && start.length < delimiter.length) return false;
    if (isDelimiter) this.#buffer = this.#buffer.subarray(delimiter.length);
    this.#state = isDelimiter ? 'delimiter' : 'preamble';
    return true;
  }

  async #readBody(): Promise<boolean> {
    const at = this.#buffer.indexOf(this.#delimiter);
    // The end of the buffer may contain the beginning of a delimiter.
    const end = at < 0 ? Math.max(0, this.#buffer.length - this.#delimiter.length + 1) : at;
    const content = this.#buffer.subarray(0, end);
    this.#buffer = this.#buffer.subarray(at < 0 ? end : at + this.#delimiter.length);
    if (this.#state === 'body' && content.length > 0) await this.#sink(content);
    if (at < 0) return false;
    this.#state = 'delimiter';
    return true;
  }

  #readDelimiter(): boolean {
    // White space may follow a boundary (RFC 2046 section 5.1.1).
    const line = /^(?:--|[ \t]*\r\n)/.exec(this.#buffer.toString('latin1', 0, 200))?.[0];
    if (line === undefined) {
      if (this.#buffer.length >= 200 || !/^(?:-?|[ \t]*\r?)$/.test(this.#buffer.toString('latin1')))
        throw malformed('a boundary is not followed by a part');
      return false;
    }
    this.#buffer = this.#buffer.subarray(line.length);
    this.#state = line === '--' ? 'done' : 'head';
    return true;
  }

  #readHead(): boolean {
    const end = this.#buffer.indexOf(HEAD_END, this.#searched);
    if ((end < 0 ? this.#buffer.length : end) > MAX_HEAD) throw malformed('the header of a part is too long');
    if (end < 0) {
      this.#searched = Math.max(0, this.#buffer.length - HEAD_END.length + 1);
      return false;
    }
    if (++this.#parts > MAX_PARTS) throw malformed(`it has more than ${MAX_PARTS} parts`);
    const head = this.#buffer.toString('utf8', 0, end);
    this.#buffer = this.#buffer.subarray(end + 2);
    this.#sink = this.#open(decodeHead(head));
    this.#searched = 0;
    this.#state = 'start';
    return true;
  }

  /** The empty line after a head may already belong to the delimiter if a part has no body (RFC 2046). */
  #readStart(): boolean {
    if (this.#buffer.length < this.#delimiter.length) return false;
    if (this.#buffer.indexOf(this.#delimiter) !== 0) this.#buffer = this.#buffer.subarray(2);
    this.#state = 'body';
    return true;
  }
}

function decodeHead(head: string): PartHead {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? '';
  const name = parameter(disposition, 'name');
  if (!/^\s*form-data\b/i.test(disposition) || name === undefined)
    throw malformed('a part has no name (content-disposition)');
  const type = /^content-type:(.*)$/im.exec(head)?.[1]?.trim();
  const filename = parameter(disposition, 'filename');
  return {
    name,
    filename,
    mediaType: type || (filename === undefined ? 'text/plain' : 'application/octet-stream'),
  };
}

/** Quoted as in browsers or mail programs (HTML standard, "multipart form data"; RFC 2183). */
function parameter(header: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(header);
  if (!match) return undefined;
  const [, quoted, token = ''] = match;
  return quoted === undefined ? token : quoted.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"');
}

function boundaryOf(contentType: string): string {
  const isMultipart = /^multipart\/form-data\s*;/i.test(contentType);
  const boundary = isMultipart ? parameter(contentType, 'boundary') : undefined;
  if (boundary !== undefined && /^[\x20-\x7e]{1,70}$/.test(boundary)) return boundary;
  throw malformed('content-type: must be multipart/form-data with a boundary');
}

function malformed(reason: string): GatewayError {
  return new GatewayError('invalid_request', `The request body is not valid multipart form data: ${reason}.`);
}
