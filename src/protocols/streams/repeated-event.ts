// Fast path for streams whose events differ only in one text: an event is compared with the previous one, and only the
// text is parsed.
//
// Gain: 6 % less CPU per translated chunk (`npm run bench:compare`, Bun 1.4.5, 2026-11-24). Without it: the same results. To remove: this
// file and its calls in the two `decode-stream.ts`. Try without it with each new version of the runtime's JSON parser.
import { asString, parseJson } from '../../base/json/index.ts';

/** Characters. Longer events are not remembered. */
const LONGEST = 4_096;

/** Remembers the last event of a stream, to recognize events that differ only in one text. */
export class RepeatedEvent {
  #before = '';
  #behind = '';

  /**
   * Returns the text of an event that otherwise equals the noted one.
   * @param data of the event, as text
   * @returns undefined for any other event, which must be parsed
   */
  textOf(data: string): string | undefined {
    const { length } = this.#before;
    const end = data.length - this.#behind.length;
    if (length === 0 || end < length) return undefined;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#behind)) return undefined;
    const written = data.slice(length, end);
    // After a quotation mark, another member may begin.
    return written.includes('"') ? undefined : asString(parseJson(`"${written}"`));
  }

  /** Forgets the noted event: the next one must be parsed. */
  forget(): void {
    this.#before = '';
  }

  /**
   * Notes a parsed event. It must carry no state that the next event would have to repeat.
   * @param name of the member with the text; no other member may have it
   * @param text the parsed text
   */
  note(data: string, name: string, text: string): void {
    const key = `"${name}":`;
    const at = data.indexOf(key);
    if (data.length > LONGEST || at < 0 || data.includes(key, at + 1)) return;
    const quote = data.startsWith(' ', at + key.length) ? at + key.length + 1 : at + key.length;
    // Texts with escapes are not found and not noted; a later event will be.
    if (!data.startsWith(`"${text}"`, quote)) return;
    this.#before = data.slice(0, quote + 1);
    this.#behind = data.slice(quote + 1 + text.length);
  }
}
