// Reads an event stream for a decoder: the name and the data of each event, as text. Knows no protocol.
import { FrameSplitter, type TakeFrame } from '../../protocols/index.ts';
import { fromByteString } from '../../lib/byte-string.ts';

export class EventReader {
  readonly #frames = new FrameSplitter();
  readonly #take: (event: string, data: string) => void;

  /** @param take called once per event that has data */
  constructor(take: (event: string, data: string) => void) {
    this.#take = take;
  }

  /** Takes the bytes of one read, as a byte string. @throws RangeError when an event is too long */
  push(bytes: string): void {
    this.#frames.push(bytes, this.#frame);
  }

  /** The stream ended: a last event without its blank line is still delivered, as every client library does. */
  end(): void {
    const last = this.#frames.end();
    if (last !== '') this.#frame(last);
  }

  readonly #frame: TakeFrame = (frame) => {
    const isNamed = frame.startsWith(NAME);
    const from = isNamed ? frame.indexOf('\n') + 1 : 0;
    // The usual event: one line of data, perhaps behind its name.
    const isUsual = frame.startsWith(DATA, from) && frame.indexOf('\n', from) === frame.length - 2;
    if (!isUsual || frame.includes('\r')) this.#lines(frame);
    else {
      const event = isNamed ? frame.slice(NAME.length, from - 1).trim() : '';
      this.#take(event, fromByteString(frame.slice(from + DATA.length, -2)));
    }
    return true;
  };

  #lines(frame: string): void {
    let event = '';
    let data: string | undefined;
    for (const line of frame.split(/\r\n|\r|\n/)) {
      if (line.startsWith('data:')) {
        const value = line.slice(line.charCodeAt(5) === SPACE ? 6 : 5);
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (line.startsWith('event:')) {
        event = line.slice(6).trim();
      }
    }
    if (data !== undefined) this.#take(event, fromByteString(data));
  }
}

const NAME = 'event: ';
const DATA = 'data: ';
const SPACE = 32;
