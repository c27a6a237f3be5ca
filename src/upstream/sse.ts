// Server-sent events, as WHATWG HTML section 9.2.6 defines the stream: CRLF, LF or CR lines,
// an optional byte order mark, comments, several data lines. Fed with text in pieces of any size.
import { MAX_FRAME_BYTES } from '../canonical/index.ts';

export class SseParser {
  readonly #frame: (event: string, data: string) => void;
  /** A line whose end has not come yet. */
  readonly #pieces: string[] = [];
  #waiting = 0;
  #event = '';
  #data: string | undefined;
  #atStart = true;
  #skipNewline = false;

  /** @param frame called once per event that has data */
  constructor(frame: (event: string, data: string) => void) {
    this.#frame = frame;
  }

  /** Takes the next piece of text. Throws RangeError when a frame grows too long. */
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
    if (!text.includes('\n')) {
      // A line that comes in many pieces is put together once, not with every piece.
      this.#pieces.push(text);
      this.#bound((this.#waiting += text.length));
      return;
    }
    const buffer = this.#joined(text);
    let from = 0;
    for (let end = buffer.indexOf('\n', from); end >= 0; end = buffer.indexOf('\n', from)) {
      this.#line(buffer, from, end);
      from = end + 1;
    }
    if (from === buffer.length) return;
    this.#pieces.push(buffer.slice(from));
    this.#bound((this.#waiting = buffer.length - from));
  }

  /** The stream ended: a last event without its blank line is still delivered, as every client library does. */
  end(): void {
    const last = this.#joined('');
    if (last !== '') this.#line(last, 0, last.length);
    this.#dispatch();
  }

  /** The unfinished line with `text` behind it. */
  #joined(text: string): string {
    if (this.#pieces.length === 0) return text;
    this.#pieces.push(text);
    const joined = this.#pieces.join('');
    this.#pieces.length = 0;
    this.#waiting = 0;
    return joined;
  }

  #bound(chars: number): void {
    if (chars + (this.#data?.length ?? 0) > MAX_FRAME_BYTES)
      throw new RangeError(`an event of the stream is longer than ${MAX_FRAME_BYTES} bytes`);
  }

  #line(buffer: string, from: number, end: number): void {
    if (from === end) {
      this.#dispatch();
      return;
    }
    if (buffer.startsWith('data:', from)) {
      const value = buffer.slice(buffer.charCodeAt(from + 5) === 32 ? from + 6 : from + 5, end);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
      // Lines may go on for ever as well.
      this.#bound(0);
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
