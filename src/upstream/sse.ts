// Server-sent events, as WHATWG HTML section 9.2.6 defines the stream: CRLF, LF or CR lines,
// an optional byte order mark, comments, several data lines. Fed with text in pieces of any size.

/** Longest frame accepted, in characters: more is a broken or hostile upstream. */
const MAX_FRAME_CHARS = 64 * 1024 * 1024;

export class SseParser {
  readonly #frame: (event: string, data: string) => void;
  #rest = '';
  #event = '';
  #data: string | undefined;
  #atStart = true;
  #skipNewline = false;

  /** @param frame called once per event that has data */
  constructor(frame: (event: string, data: string) => void) {
    this.#frame = frame;
  }

  /** Takes the next piece of text. Throws RangeError when a frame grows past MAX_FRAME_CHARS. */
  push(piece: string): void {
    if (piece === '') return;
    let text = piece;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#skipNewline) {
      this.#skipNewline = false;
      if (text.charCodeAt(0) === 10) text = text.slice(1);
    }
    if (text.includes('\r')) {
      // A CR at the very end may be the first half of a CRLF that the next piece completes.
      this.#skipNewline = text.charCodeAt(text.length - 1) === 13;
      text = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    }
    const buffer = this.#rest === '' ? text : this.#rest + text;
    let from = 0;
    for (let end = buffer.indexOf('\n', from); end >= 0; end = buffer.indexOf('\n', from)) {
      this.#line(buffer, from, end);
      from = end + 1;
    }
    this.#rest = from === 0 ? buffer : buffer.slice(from);
    if (this.#rest.length + (this.#data?.length ?? 0) > MAX_FRAME_CHARS)
      throw new RangeError('an event of the stream is too long');
  }

  /** The stream ended: a last event without its blank line is still delivered, as every client library does. */
  end(): void {
    if (this.#rest !== '') this.#line(this.#rest, 0, this.#rest.length);
    this.#rest = '';
    this.#dispatch();
  }

  #line(buffer: string, from: number, end: number): void {
    if (from === end) {
      this.#dispatch();
      return;
    }
    if (buffer.startsWith('data:', from)) {
      const value = buffer.slice(buffer.charCodeAt(from + 5) === 32 ? from + 6 : from + 5, end);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (buffer.startsWith('event:', from)) {
      this.#event = buffer.slice(from + 6, end).trim();
    }
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#data = undefined;
    this.#event = '';
    if (data !== undefined) this.#frame(event, data);
  }
}
