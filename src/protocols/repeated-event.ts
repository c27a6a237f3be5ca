// Events of a stream that are mostly the same around each piece of a text: there an event is compared with the
// event before, and the text alone is read. Knows no protocol.
import { asString, parseJson } from '../base/json/index.ts';

/** Longer events are not remembered, in characters. */
const LONGEST = 4_096;

/** The events of one stream that differ in nothing but a text. */
export class RepeatedEvent {
  #before = '';
  #behind = '';

  /**
   * The text of an event that differs from the one noted last in nothing else.
   * @param data the event's, as text
   * @returns undefined for every other event, which has to be read whole
   */
  textOf(data: string): string | undefined {
    const { length } = this.#before;
    const end = data.length - this.#behind.length;
    if (length === 0 || end < length) return undefined;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#behind)) return undefined;
    const written = data.slice(length, end);
    // Behind a quotation mark another member may begin.
    return written.includes('"') ? undefined : asString(parseJson(`"${written}"`));
  }

  /** The event that comes next is to be read whole. */
  forget(): void {
    this.#before = '';
  }

  /**
   * Notes an event that was read whole, and has nothing that the next one must not say again.
   * @param name of the member that has the text; no other has it
   * @param text what was read
   */
  note(data: string, name: string, text: string): void {
    const key = `"${name}":`;
    const at = data.indexOf(key);
    if (data.length > LONGEST || at < 0 || data.includes(key, at + 1)) return;
    const quote = data.startsWith(' ', at + key.length) ? at + key.length + 1 : at + key.length;
    // A text that is written with escapes is not found: another event will do.
    if (!data.startsWith(`"${text}"`, quote)) return;
    this.#before = data.slice(0, quote + 1);
    this.#behind = data.slice(quote + 1 + text.length);
  }
}
