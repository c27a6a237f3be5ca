// Incremental parser of one HTTP/1.1 response (RFC 9112). No I/O.

/** Maximum bytes of all heads before a body, including interim responses. */
const MAX_HEAD = 64 * 1024;
/** Maximum interim responses (1xx); real servers send one or two. */
const MAX_INTERIM = 16;
/**
 * Syntax of a head (RFC 9112 sections 4 and 5): no folded headers, no white space before a colon, no CR, LF or NUL
 * except line ends, and a maximum number of headers. A proxy must not guess about anything else.
 */
const HEAD = /^HTTP\/1\.[01] [1-9]\d\d(?: [^\0\r\n]*)?\r\n(?:[\w!#$%&'*+.^`|~-]+:[^\0\r\n]*\r\n){0,256}$/;
/** The same number as in the pattern, for the error message. */
const MAX_HEADERS = 256;
const BLANK_LINE = '\r\n\r\n';
const BLANK_BYTES = Buffer.from(BLANK_LINE);
const LF = 10;
const COLON = 58;

export class ResponseHead {
  readonly status: number;
  readonly #raw: string;
  readonly #lower: string;

  /** @param raw status line and header lines, each ending in CRLF */
  constructor(status: number, raw: string) {
    this.status = status;
    this.#raw = raw;
    this.#lower = raw.toLowerCase();
  }

  /** First header with this lower-case name, trimmed. Null: none. */
  header(name: string): string | null {
    const from = this.#behind(name, 0);
    return from < 0 ? null : this.#raw.slice(from, this.#raw.indexOf('\r\n', from)).trim();
  }

  /** All headers in order, with lower-case names. */
  headers(): readonly (readonly [name: string, value: string])[] {
    return this.#raw
      .split('\r\n')
      .slice(1)
      .filter((line) => line !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      });
  }

  get isHttp10(): boolean {
    return this.#lower.startsWith('http/1.0');
  }

  /** True when more than one header has this name. */
  repeats(name: string): boolean {
    const first = this.#behind(name, 0);
    return first >= 0 && this.#behind(name, first) >= 0;
  }

  /** Offset after the name and colon of a header. -1: none. Allocates no strings. */
  #behind(name: string, start: number): number {
    const lower = this.#lower;
    for (let at = lower.indexOf(name, start); at >= 0; at = lower.indexOf(name, at + 1)) {
      const end = at + name.length;
      if (lower.charCodeAt(at - 1) === LF && lower.charCodeAt(end) === COLON) return end + 1;
    }
    return -1;
  }
}

export interface ResponseEvents {
  head(head: ResponseHead): void;
  /** At most one call per read. */
  body(bytes: Buffer): void;
  end(rest: ConnectionRest): void;
}

/**
 * State of the connection after a complete response. `keep`: reusable. `close`: not. `stray`: unsolicited bytes
 * followed, so that other connections to the address are not trusted either.
 */
export type ConnectionRest = 'keep' | 'close' | 'stray';

type Framing = 'head' | 'length' | 'chunked' | 'close' | 'done';

export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #isConnect: boolean;
  #framing: Framing = 'head';
  /** Pieces of an incomplete head, joined once. */
  readonly #pieces: string[] = [];
  /** Its last characters, which may begin a blank line. */
  #tail = '';
  #headBytes = 0;
  #interim = 0;
  #left = 0;
  #chunked: ChunkedDecoder | undefined;
  #keepAlive = true;

  /** @param isConnect true for the response to CONNECT: a success is followed by the tunnel, whatever its headers */
  constructor(events: ResponseEvents, isConnect = false) {
    this.#events = events;
    this.#isConnect = isConnect;
  }

  /**
   * Consumes the bytes of one read and takes ownership of them. Throws RangeError when the peer violates the protocol.
   */
  push(bytes: Buffer): void {
    let rest = bytes;
    if (this.#framing === 'head') {
      const body = this.#readHead(rest);
      if (body === undefined) return;
      rest = body;
    }
    switch (this.#framing) {
      case 'chunked':
        return this.#readChunked(rest);
      case 'length':
        return this.#readLength(rest);
      case 'close':
        if (rest.length > 0) this.#events.body(rest);
        return;
      default:
        return;
    }
  }

  /** Handles the end of the connection. True: this ends the response. False: it was truncated. */
  close(): boolean {
    if (this.#framing !== 'close') return false;
    this.#keepAlive = false;
    this.#finish(false);
    return true;
  }

  /** Bytes after the head. Undefined: the head is incomplete. */
  #readHead(bytes: Buffer): Buffer | undefined {
    for (let from = 0; ;) {
      const end = this.#endOfHead(bytes, from);
      if (end < 0) return undefined;
      const raw = this.#joined(bytes.toString('latin1', from, end)).slice(0, -2);
      from = end;
      const status = readStatus(raw);
      if (status === 101) throw new RangeError('an unrequested protocol upgrade');
      if (status >= 200) {
        this.#begin(new ResponseHead(status, raw));
        return bytes.subarray(end);
      }
      if (++this.#interim > MAX_INTERIM) throw new RangeError(`more than ${MAX_INTERIM} interim responses`);
    }
  }

  /** Offset after the head including its blank line. -1: it is incomplete, and the rest was buffered. */
  #endOfHead(bytes: Buffer, from: number): number {
    const shared = (this.#tail + bytes.toString('latin1', from, from + 3)).indexOf(BLANK_LINE);
    const blank = shared < 0 ? bytes.indexOf(BLANK_BYTES, from) : from + shared - this.#tail.length;
    const end = shared < 0 && blank < 0 ? -1 : blank + BLANK_LINE.length;
    this.#headBytes += (end < 0 ? bytes.length : end) - from;
    if (this.#headBytes > MAX_HEAD) throw new RangeError('response head too long');
    if (end < 0) {
      const text = bytes.toString('latin1', from);
      this.#pieces.push(text);
      this.#tail = (this.#tail + text).slice(-3);
    }
    return end;
  }

  #joined(last: string): string {
    this.#tail = '';
    if (this.#pieces.length === 0) return last;
    this.#pieces.push(last);
    return this.#pieces.splice(0).join('');
  }

  #begin(head: ResponseHead): void {
    const connection = head.header('connection')?.toLowerCase() ?? '';
    this.#keepAlive = head.isHttp10
      ? connection.includes('keep-alive')
      : !connection.includes('close') && !head.repeats('connection');
    const coding = head.header('transfer-encoding');
    const length = head.header('content-length');
    if (this.#isConnect && head.status < 300) {
      // RFC 9110 section 9.3.6.
      this.#framing = 'close';
    } else if (head.status === 204 || head.status === 304) {
      this.#framing = 'length';
    } else if (coding !== null) {
      checkCoding(coding, head);
      this.#framing = 'chunked';
      this.#chunked = new ChunkedDecoder();
    } else if (length !== null) {
      if (!/^\d{1,15}$/.test(length) || head.repeats('content-length'))
        throw new RangeError('malformed content-length');
      this.#framing = 'length';
      this.#left = Number(length);
    } else {
      this.#framing = 'close';
    }
    this.#events.head(head);
  }

  #readChunked(piece: Buffer): void {
    const decoder = this.#chunked;
    if (!decoder || piece.length === 0) return;
    const payload = decoder.push(piece);
    if (payload.length > 0) this.#events.body(payload);
    if (decoder.done) this.#finish(decoder.surplus);
  }

  #readLength(piece: Buffer): void {
    const taken = Math.min(this.#left, piece.length);
    this.#left -= taken;
    if (taken > 0) this.#events.body(taken === piece.length ? piece : piece.subarray(0, taken));
    if (this.#left === 0) this.#finish(taken < piece.length);
  }

  #finish(surplus: boolean): void {
    if (this.#framing === 'done') return;
    this.#framing = 'done';
    this.#events.end(surplus ? 'stray' : this.#keepAlive ? 'keep' : 'close');
  }
}

/** Status of a head. @throws RangeError for a malformed head */
function readStatus(raw: string): number {
  if (HEAD.test(raw)) return Number(raw.slice(9, 12));
  if (!/^HTTP\/1\.[01] [1-9]\d\d[ \r]/.test(raw)) throw new RangeError('malformed status line');
  throw new RangeError(raw.split('\n').length - 2 > MAX_HEADERS ? 'too many headers' : 'malformed header');
}

/**
 * Only one framing may be given, once, because two readers could interpret two differently (RFC 9112 section 6.3).
 * Compressed transfer codings were not requested.
 */
function checkCoding(coding: string, head: ResponseHead): void {
  if (head.isHttp10) throw new RangeError('a transfer coding in HTTP/1.0');
  if (coding.toLowerCase() !== 'chunked' || head.repeats('transfer-encoding'))
    throw new RangeError(`unknown transfer coding ${coding.slice(0, 100)}`);
  if (head.header('content-length') !== null)
    throw new RangeError('both a transfer coding and a content-length');
}

// Chunked transfer coding (RFC 9112 section 7.1), decoded in pieces of any size.

/** Maximum length of a chunk size line or trailer. */
const MAX_LINE = 4096;
/** Maximum bytes of extensions and of trailers in one body; neither is needed, nor counted as part of the answer. */
const MAX_EXTENSIONS = 16 * 1024;
const MAX_TRAILERS = 16 * 1024;

const CR = 13;
const NO_BYTES: Buffer = Buffer.alloc(0);

export class ChunkedDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailers' = 'size';
  #left = 0;
  #rest = NO_BYTES;
  #extensions = 0;
  #trailers = 0;
  /** True once the last chunk and its trailers were read. */
  done = false;
  /** True: bytes follow the end of the body, which violates the protocol. */
  surplus = false;

  /**
   * Returns the payload in this piece. Throws RangeError on malformed framing.
   * @param piece modified: later payloads are moved up to the first
   */
  push(piece: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = NO_BYTES;
    /** Payload so far. A typical read contains one whole chunk, which is not moved. */
    let from = 0;
    let to = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, bytes.length);
        if (to === 0) from = to = at;
        else bytes.copyWithin(to, at, end);
        to += end - at;
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'data-end';
        continue;
      }
      const end = lineEnd(bytes, at);
      if (end < 0) {
        // The end of a chunk is two bytes long; anything longer is malformed.
        if (bytes.length - at > (this.#state === 'data-end' ? 1 : MAX_LINE))
          throw new RangeError(
            this.#state === 'data-end' ? 'chunk longer than announced' : 'chunk header too long',
          );
        this.#rest = bytes.subarray(at);
        break;
      }
      this.#line(bytes, at, end);
      at = end + 2;
      if (this.done) {
        this.surplus = at < bytes.length;
        break;
      }
    }
    return bytes.subarray(from, to);
  }

  #line(bytes: Buffer, from: number, end: number): void {
    switch (this.#state) {
      case 'data-end':
        if (end !== from) throw new RangeError('chunk longer than announced');
        this.#state = 'size';
        return;
      case 'trailers':
        if (end === from) this.done = true;
        else if ((this.#trailers += end - from + 2) > MAX_TRAILERS) throw new RangeError('too many trailers');
        return;
      default:
        this.#begin(bytes, from, end);
    }
  }

  #begin(bytes: Buffer, from: number, end: number): void {
    let size = 0;
    let at = from;
    for (; at < end; at++) {
      const digit = hexDigit(bytes[at] ?? 0);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (at === from || at - from > 8) throw new RangeError('malformed chunk size');
    if (at < end) this.#extension(bytes.toString('latin1', at, end));
    this.#left = size;
    this.#state = size === 0 ? 'trailers' : 'data';
  }

  /** Extensions begin with a semicolon, optionally after white space, and are ignored. */
  #extension(text: string): void {
    if (!/^[ \t]*(?:;[^\0\r\n]*)?$/.test(text)) throw new RangeError('malformed chunk size');
    this.#extensions += text.length;
    if (this.#extensions > MAX_EXTENSIONS) throw new RangeError('too many chunk extensions');
  }
}

/** Offset of the next CR LF. -1: none. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(CR, from);
  while (at >= 0 && bytes[at + 1] !== LF) at = bytes.indexOf(CR, at + 1);
  return at;
}

/** Value of a hexadecimal digit by character code; -1 for anything else. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return code >= 65 && code <= 70 ? code - 55 : -1;
}
