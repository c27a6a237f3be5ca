// Token counts of the simulated models. A fixed rule instead of a tokenizer, so that tests can predict them.
import { isJsonArray, isJsonObject } from '../src/base/json/index.ts';

/** Characters per token. */
export const CHARS_PER_TOKEN = 4;
/** Tokens of an image, file or audio of any size. */
const MEDIA_TOKENS = 85;
/** Members with media or opaque data instead of text. */
const MEDIA_KEYS: ReadonlySet<string> = new Set(['data', 'file_data', 'image_url', 'source', 'input_audio']);
const SEALED_KEYS: ReadonlySet<string> = new Set([
  'signature',
  'encrypted_content',
  'cache_control',
  'thoughtSignature',
  'thought_signature',
]);

/** Tokens of a text: its length divided by four, rounded up. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Tokens of a JSON value: those of its strings, one per object, and a fixed number for media. */
export function countTokens(value: unknown): number {
  if (typeof value === 'string') return textTokens(value);
  if (isJsonArray(value)) {
    let sum = 0;
    for (const element of value) sum += countTokens(element);
    return sum;
  }
  if (!isJsonObject(value)) return 0;
  let sum = 1;
  for (const key in value) {
    if (SEALED_KEYS.has(key)) continue;
    sum += MEDIA_KEYS.has(key) ? MEDIA_TOKENS : countTokens(value[key]);
  }
  return sum;
}

/** First `most` characters of a text. Does not split surrogate pairs. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  const wide = (text.codePointAt(most - 1) ?? 0) > 0xffff;
  return text.slice(0, wide ? most - 1 : most);
}

/**
 * Splits a text into pieces for a stream: words with the space before them, at most 12 characters. Does not split
 * surrogate pairs.
 * @param cut a piece ends after this many characters, so that a stream can be cut exactly there
 */
export function textPieces(text: string, cut = Infinity): string[] {
  const pieces: string[] = [];
  let start = 0;
  let at = 0;
  while (at < text.length) {
    const wide = (text.codePointAt(at) ?? 0) > 0xffff;
    at += wide ? 2 : 1;
    const end = at >= text.length || at >= cut || text[at] === ' ' || at - start >= 12;
    if (!end) continue;
    pieces.push(text.slice(start, at));
    start = at;
    if (at >= cut) cut = Infinity;
  }
  return pieces;
}
