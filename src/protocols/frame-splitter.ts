// Cuts an event stream into its events (HTML standard, "Server-sent events") without decoding them. Works on byte strings:
// one character, one byte. Knows no protocol.
import { MAX_FRAME_BYTES } from '../canonical/index.ts';

const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Two ends of lines, each of which may be LF, CRLF or CR (HTML standard, "Parsing an event stream"). */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
/** The longest blank line that is not complete yet: CRLF and CR. */
const HALF_BLANK = 3;

/**
 * Takes one event, its blank line included.
 * @returns false when nothing after it is of interest
 */
export type TakeFrame = (frame: string) => boolean;

export class FrameSplitter {
  /** An event whose end has not come yet, in the pieces that it came in: they are joined once, not with every read. */
  #pieces: string[] = [];
  #waiting = 0;
  /** The last bytes of the pieces: with them begins a blank line that two reads share. */
  #tail = '';
  #begun = false;
  /** Line ends other than LF are legal, Google's and slower to find. */
  #isMixed = false;

  /**
   * Takes the bytes of one read and hands on every event that they complete. Each byte is looked at a fixed number of
   * times, in whatever pieces an event comes.
   * @throws RangeError when an event is too long
   */
  push(bytes: string, take: TakeFrame): void {
    this.#isMixed ||= bytes.includes('\r');
    const endOf = this.#isMixed ? endOfMixed : endOfPlain;
    // The first bytes wait for each other: a byte order mark is no part of an event.
    if (this.#begun && this.#waiting > 0 && endOf(this.#tail + bytes, 0) === 0) return this.#wait(bytes);
    // Waiting bytes hold no blank line: the search begins where one may begin that this read completes.
    const seen = this.#begun ? Math.max(0, this.#waiting - HALF_BLANK) : 0;
    let text = this.#joined(bytes);
    if (!this.#begun && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
    this.#begun ||= text.length >= BYTE_ORDER_MARK.length;
    let from = 0;
    for (let end = endOf(text, seen); end > 0; end = from < text.length ? endOf(text, from) : 0)
      from = take(text.slice(from, end)) ? end : text.length;
    if (from < text.length) this.#wait(text.slice(from));
  }

  /** The stream is over: what came of an event whose blank line did not. */
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

  /** Waiting bytes, with these bytes behind them. */
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

/** The end of the event that begins before or at `from`, behind its blank line; 0 when it is not there yet. */
function endOfPlain(text: string, from: number): number {
  const at = text.indexOf('\n\n', from);
  return at < 0 ? 0 : at + 2;
}

/** The same for any line ends. A CR at the very end says nothing yet: it may be the first half of a CRLF. */
function endOfMixed(text: string, from: number): number {
  BLANK_LINE.lastIndex = from;
  if (!BLANK_LINE.test(text)) return 0;
  const end = BLANK_LINE.lastIndex;
  return end === text.length && text.endsWith('\r') ? 0 : end;
}

/** The data of an event: its `data:` lines, joined. */
export function frameData(frame: string): string {
  let data: string | undefined;
  for (const line of frame.split(frame.includes('\r') ? /\r\n|\r|\n/ : '\n')) {
    if (!line.startsWith('data:')) continue;
    const piece = line.slice(line.startsWith('data: ') ? 6 : 5);
    data = data === undefined ? piece : `${data}\n${piece}`;
  }
  return data ?? '';
}

/**
 * The event with other data.
 * @param data as `frameData` gave it
 */
export function replaceData(frame: string, data: string, replacement: string): string {
  if (frame.includes(data)) return frame.replace(data, () => replacement);
  // Data in several lines is rare, and may be written in one.
  const event = /^event:.*\r?\n/m.exec(frame)?.[0] ?? '';
  return `${event}data: ${replacement.replaceAll('\n', ' ')}\n\n`;
}
