// Numbers the events of a stream as it is written, and finds an event by its number. Writes contain whole events.
// Comments have no number.
import type { Place } from './shared-answer.ts';

const COLON = 58;
const BLANK = '\n\n';
/** Other line breaks are legal: some upstreams send them, and relayed bytes are not changed. */
const MIXED_BLANK = /\r?\n\r?\n/g;

export class EventNumbers {
  /** Number of the next event. */
  next: number;
  readonly #first: number;
  readonly #writesIds: boolean;

  /** @param writesIds true: adds an `id` line to each event; false: events already contain their number */
  constructor(writesIds: boolean, first = 0) {
    this.#writesIds = writesIds;
    this.#first = first;
    this.next = first;
  }

  /** Number of the first event. */
  get first(): number {
    return this.#first;
  }

  /** Returns the bytes to write for whole events. */
  take(text: string): string {
    // One event, which is usual.
    if (text.indexOf(BLANK) === text.length - BLANK.length && text.charCodeAt(0) !== COLON) {
      const number = this.next;
      this.next += 1;
      return this.#writesIds ? `id: ${number}\n${text}` : text;
    }
    const isMixed = text.includes('\r');
    let numbered = '';
    for (let from = 0; from < text.length;) {
      const end = isMixed ? endOfMixed(text, from) : endOf(text, from);
      if (text.charCodeAt(from) !== COLON) {
        if (this.#writesIds) numbered += `id: ${this.next}\n`;
        this.next += 1;
      }
      if (this.#writesIds) numbered += text.slice(from, end);
      from = end;
    }
    return this.#writesIds ? numbered : text;
  }

  /** Position after an event. @param chunks all chunks as returned by `take`, in any encoding */
  placeAfter(number: number, chunks: readonly string[]): Place {
    const wanted = number + 1;
    if (wanted <= this.#first) return { chunk: 0, skip: 0 };
    if (wanted >= this.next) return { chunk: chunks.length, skip: 0 };
    // Reads all of them, because clients resume rarely, and numbers are given for every event.
    let at = this.#first;
    for (const [chunk, text] of chunks.entries()) {
      const isMixed = text.includes('\r');
      for (let from = 0; from < text.length;) {
        const isEvent = text.charCodeAt(from) !== COLON;
        if (isEvent && at === wanted) return { chunk, skip: from };
        if (isEvent) at += 1;
        from = isMixed ? endOfMixed(text, from) : endOf(text, from);
      }
    }
    return { chunk: chunks.length, skip: 0 };
  }
}

function endOf(text: string, from: number): number {
  const at = text.indexOf(BLANK, from);
  return at < 0 ? text.length : at + BLANK.length;
}

function endOfMixed(text: string, from: number): number {
  MIXED_BLANK.lastIndex = from;
  return MIXED_BLANK.test(text) ? MIXED_BLANK.lastIndex : text.length;
}
