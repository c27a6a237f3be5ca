// Cuts a relayed event stream into its events without decoding them. Works on byte strings: one character, one byte.
// Knows no protocol.
import { parseJson } from '../canonical/index.ts';

/** Most bytes of one event: more is a broken upstream. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
/** Two ends of lines, each of which may be LF, CRLF or CR (HTML standard, "Parsing an event stream"). */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;

/**
 * Takes one event: the characters of `text` from `from` to `to`, its blank line included.
 * @returns false when nothing after it is of interest
 */
export type TakeFrame = (text: string, from: number, to: number) => boolean;

export class FrameSplitter {
  #rest = '';
  #begun = false;

  /**
   * Takes the bytes of one read and hands on every event that they complete.
   * @throws RangeError when an event is too long
   */
  push(bytes: string, take: TakeFrame): void {
    let text = this.#rest === '' ? bytes : this.#rest + bytes;
    if (!this.#begun && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length);
    this.#begun ||= text.length >= BYTE_ORDER_MARK.length;
    // Line ends other than LF are legal, Google's and slower to find.
    const endOf = text.includes('\r') ? endOfMixed : endOfPlain;
    let from = 0;
    for (let end = endOf(text, 0); end > 0; end = endOf(text, from))
      from = take(text, from, end) ? end : text.length;
    this.#rest = from === text.length ? '' : text.slice(from);
    if (this.#rest.length > MAX_FRAME_BYTES) throw new RangeError('an event of the stream is too long');
  }

  /** The stream is over: its last event if that lacks no more than the blank line. Half an event is for no client. */
  end(): string {
    const last = this.#rest.trim();
    this.#rest = '';
    return parseJson(frameData(last)) === undefined ? '' : `${last}\n\n`;
  }
}

/** The end of the event that begins at `from`, behind its blank line; 0 when it is not there yet. */
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
