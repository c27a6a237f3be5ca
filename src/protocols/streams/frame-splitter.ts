// Splits an event stream into events (HTML standard, "Server-sent events") without decoding them. Works on byte
// strings: one character is one byte.
import { MAX_FRAME_BYTES } from '../../canonical/index.ts';

const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Two line ends; each is LF, CRLF or CR (HTML standard, "Parsing an event stream"). */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
/** Length of the longest incomplete blank line: CRLF and CR. */
const HALF_BLANK = 3;

/** Takes one event, including its blank line. @returns false if the rest of the stream can be ignored */
export type TakeFrame = (frame: string) => boolean;

export class FrameSplitter {
  /** Chunks of an incomplete event. They are joined once, instead of on every read. */
  #pieces: string[] = [];
  #waiting = 0;
  /** Last bytes of the chunks: a blank line can be split between two reads. */
  #tail = '';
  #begun = false;
  /** True once a CR was seen. Google sends CRLF; finding these line ends is slower. */
  #isMixed = false;

  /**
   * Takes the bytes of one read and passes on each event that they complete. The cost is linear, however the events are
   * split into reads.
   * @throws RangeError if an event is too long
   */
  push(bytes: string, take: TakeFrame): void {
    this.#isMixed ||= bytes.includes('\r');
    const endOf = this.#isMixed ? endOfMixed : endOfPlain;
    // Before the first event, bytes are joined until a byte order mark, which is not part of an event, can be
    // recognized.
    if (this.#begun && this.#waiting > 0 && endOf(this.#tail + bytes, 0) === 0) return this.#wait(bytes);
    // Buffered bytes hold no complete blank line, so the search starts at the earliest place where one can begin.
    const seen = this.#begun ? Math.max(0, this.#waiting - HALF_BLANK) : 0;
    let text = this.#joined(bytes);
    if (!this.#begun && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
    this.#begun ||= text.length >= BYTE_ORDER_MARK.length;
    let from = 0;
    for (let end = endOf(text, seen); end > 0; end = from < text.length ? endOf(text, from) : 0)
      from = take(text.slice(from, end)) ? end : text.length;
    if (from < text.length) this.#wait(text.slice(from));
  }

  /** Ends the stream. @returns the incomplete event, without its blank line */
  end(): string {
    return this.#joined('');
  }

  #wait(bytes: string): void {
    this.#pieces.push(bytes);
    this.#waiting += bytes.length;
    if (this.#waiting > MAX_FRAME_BYTES)
      throw new RangeError(`an event of the stream is longer than ${MAX_FRAME_BYTES} bytes`);
    this.#tail =
      bytes.length < HALF_BLANK ? (this.#tail + bytes).slice(-HALF_BLANK) : bytes.slice(-HALF_BLANK);
  }

  /** Returns the buffered bytes followed by these bytes. */
  #joined(bytes: string): string {
    if (this.#waiting === 0) return bytes;
    this.#pieces.push(bytes);
    const text = this.#pieces.join('');
    this.#pieces = [];
    this.#waiting = 0;
    this.#tail = '';
    return text;
  }
}

/** Returns the offset behind the blank line of the event at `from`; 0 if it is not complete. */
function endOfPlain(text: string, from: number): number {
  const at = text.indexOf('\n\n', from);
  return at < 0 ? 0 : at + 2;
}

/** Returns the same for any line ends. A CR at the very end is not decisive: it may be the first half of a CRLF. */
function endOfMixed(text: string, from: number): number {
  BLANK_LINE.lastIndex = from;
  if (!BLANK_LINE.test(text)) return 0;
  const end = BLANK_LINE.lastIndex;
  return end === text.length && text.endsWith('\r') ? 0 : end;
}

/** Returns the data of an event: its joined `data:` lines. */
export function frameData(frame: string): string {
  let data: string | undefined;
  for (const line of frame.split(frame.includes('\r') ? /\r\n|\r|\n/ : '\n')) {
    if (!line.startsWith('data:')) continue;
    const piece = line.slice(line.startsWith('data: ') ? 6 : 5);
    data = data === undefined ? piece : `${data}\n${piece}`;
  }
  return data ?? '';
}

/** Returns the event with other data. @param data as returned by `frameData` */
export function replaceData(frame: string, data: string, replacement: string): string {
  if (frame.includes(data)) return frame.replace(data, () => replacement);
  // Data in several lines is rare. The replacement is written on one line.
  const event = /^event:.*\r?\n/m.exec(frame)?.[0] ?? '';
  return `${event}data: ${replacement.replaceAll('\n', ' ')}\n\n`;
}
