// JSON of a body in which long texts of the client's stand unchanged: they are copied as the client wrote them, instead of
// being escaped and encoded once more. Knows no protocol: a text is found by what it says, wherever it stands.
import { toByteString } from '../lib/byte-string.ts';
import { isJsonArray, type JsonValue } from './json.ts';
import { readTexts } from './plain-messages.ts';

/** Shorter texts are written sooner than found. */
const LONG_TEXT = 256;

/**
 * Writes a body.
 * @param messages of the client's body, which may be plain
 * @returns a byte string
 */
export function writeJson(body: JsonValue, messages: JsonValue | undefined): string {
  const texts = new WrittenTexts(messages);
  return texts.left === 0 ? toByteString(JSON.stringify(body)) : write(body, texts);
}

/** Texts that are written already. */
class WrittenTexts {
  /** How many there may be to come. */
  left = 0;
  /** Those of one length, in the order in which they are expected: each is compared once, so that all take linear time. */
  readonly #byLength = new Map<number, { said: string; written: string }[]>();

  constructor(messages: JsonValue | undefined) {
    for (const text of readTexts(messages)) {
      if (text.said.length < LONG_TEXT) continue;
      const others = this.#byLength.get(text.said.length);
      if (others) others.push(text);
      else this.#byLength.set(text.said.length, [text]);
      this.left++;
    }
    for (const texts of this.#byLength.values()) texts.reverse();
  }

  /** How a text is written, where it is the next of its length. */
  take(said: string): string | undefined {
    const texts = this.#byLength.get(said.length);
    if (texts?.at(-1)?.said !== said) return undefined;
    this.left--;
    return texts.pop()?.written;
  }
}

function write(value: JsonValue, texts: WrittenTexts): string {
  if (typeof value === 'string') return toByteString(texts.take(value) ?? JSON.stringify(value));
  if (typeof value !== 'object' || value === null || texts.left === 0)
    return toByteString(JSON.stringify(value));
  let out = '';
  if (isJsonArray(value)) {
    for (const element of value) out += `${out === '' ? '' : ','}${write(element, texts)}`;
    return `[${out}]`;
  }
  for (const key in value) {
    const member = value[key];
    if (member !== undefined)
      out += `${out === '' ? '' : ','}${toByteString(JSON.stringify(key))}:${write(member, texts)}`;
  }
  return `{${out}}`;
}
