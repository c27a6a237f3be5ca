// One HTTP/1.1 response (RFC 9112), parsed from byte strings as they are read. No I/O.
import { ChunkedDecoder } from './chunked.ts';

const MAX_HEAD = 64 * 1024;

export class ResponseHead {
  readonly status: number;
  readonly #raw: string;
  readonly #lower: string;

  /** @param raw status line and header lines, each ended by CRLF */
  constructor(status: number, raw: string) {
    this.status = status;
    this.#raw = raw;
    this.#lower = raw.toLowerCase();
  }

  /** The first header of this lower-case name, trimmed; null when there is none. */
  header(name: string): string | null {
    const at = this.#lower.indexOf(`\r\n${name}:`);
    if (at < 0) return null;
    const from = at + name.length + 3;
    return this.#raw.slice(from, this.#raw.indexOf('\r\n', from)).trim();
  }

  get isHttp10(): boolean {
    return this.#lower.startsWith('http/1.0');
  }

  /** True when more than one header has this name. */
  repeats(name: string): boolean {
    const mark = `\r\n${name}:`;
    const at = this.#lower.indexOf(mark);
    return at >= 0 && this.#lower.indexOf(mark, at + mark.length) >= 0;
  }
}

export interface ResponseEvents {
  head(head: ResponseHead): void;
  /** At most one call per read. */
  body(bytes: string): void;
  /** @param reusable the connection may carry another request */
  end(reusable: boolean): void;
}

type Framing = 'head' | 'length' | 'chunked' | 'close' | 'done';

export class ResponseParser {
  readonly #events: ResponseEvents;
  #framing: Framing = 'head';
  #buffer = '';
  #left = 0;
  #chunked: ChunkedDecoder | undefined;
  #keepAlive = true;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** Takes the bytes of one read. Throws RangeError when the peer breaks the protocol. */
  push(bytes: string): void {
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
        if (rest !== '') this.#events.body(rest);
        return;
      default:
        return;
    }
  }

  /** The peer closed the connection. True when that is how this response ends; false when it was cut. */
  close(): boolean {
    if (this.#framing !== 'close') return false;
    this.#finish(false);
    return true;
  }

  #readHead(piece: string): string | undefined {
    let text = this.#buffer + piece;
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) {
        if (text.length > MAX_HEAD) throw new RangeError('response head too long');
        this.#buffer = text;
        return undefined;
      }
      const raw = text.slice(0, end + 2);
      text = text.slice(end + 4);
      const status = Number(raw.slice(9, 12));
      if (!raw.startsWith('HTTP/1.') || !(status >= 100 && status <= 999))
        throw new RangeError('malformed status line');
      if (status < 200) continue;
      this.#buffer = '';
      this.#begin(new ResponseHead(status, raw));
      return text;
    }
  }

  #begin(head: ResponseHead): void {
    const connection = head.header('connection')?.toLowerCase() ?? '';
    this.#keepAlive = head.isHttp10 ? connection.includes('keep-alive') : !connection.includes('close');
    const coding = head.header('transfer-encoding')?.toLowerCase();
    const length = head.header('content-length');
    if (head.status === 204 || head.status === 304) {
      this.#framing = 'length';
    } else if (coding !== undefined) {
      if (!coding.endsWith('chunked')) throw new RangeError(`unknown transfer coding ${coding}`);
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

  #readChunked(piece: string): void {
    const decoder = this.#chunked;
    if (!decoder || piece === '') return;
    const payload = decoder.push(piece);
    if (payload !== '') this.#events.body(payload);
    if (decoder.done) this.#finish(decoder.surplus === '');
  }

  #readLength(piece: string): void {
    const taken = Math.min(this.#left, piece.length);
    this.#left -= taken;
    if (taken > 0) this.#events.body(taken === piece.length ? piece : piece.slice(0, taken));
    if (this.#left === 0) this.#finish(taken === piece.length);
  }

  #finish(clean: boolean): void {
    if (this.#framing === 'done') return;
    this.#framing = 'done';
    this.#events.end(clean && this.#keepAlive);
  }
}
