// Rewrites compact bytes so that they need no table of names: each number of a name becomes its text. All else stays byte for
// byte, so what is read of both is the same.
import { FIRST_NAME, FIRST_TAG, Tag } from './tags.ts';

/**
 * Spells the names of compact values out.
 * @param textOf the text of a name; throws RangeError for a number that is none
 * @throws RangeError for bytes that are no compact values
 */
export function spelledOut(bytes: Uint8Array, textOf: (number: number) => string): Uint8Array {
  const parts: Uint8Array[] = [];
  let kept = 0;
  let at = 0;
  const count = (): number => {
    let value = 0;
    for (let scale = 1; scale < 2 ** 56; scale *= 128) {
      const byte = bytes[at];
      if (byte === undefined) break;
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new RangeError('a number is too long, or the bytes end within it');
  };
  const replace = (start: number, tag: number, text: string): void => {
    parts.push(bytes.subarray(kept, start), textValue(tag, text));
    kept = at;
  };
  while (at < bytes.length) {
    const start = at;
    const tag = bytes[at] ?? 0;
    at += 1;
    if (tag < FIRST_TAG) continue;
    if (tag >= FIRST_NAME) {
      replace(start, Tag.text, textOf(tag - FIRST_NAME));
      continue;
    }
    switch (tag) {
      case Tag.null:
      case Tag.false:
      case Tag.true:
      case Tag.array:
      case Tag.object:
      case Tag.end:
        break;
      case Tag.double:
        at += 8;
        break;
      case Tag.hex:
        at += 16;
        break;
      case Tag.text:
      case Tag.json: {
        const length = count();
        at += length;
        break;
      }
      case Tag.integer:
      case Tag.negative:
      case Tag.micro:
      case Tag.pico:
        count();
        break;
      case Tag.name:
        replace(start, Tag.text, textOf(count()));
        break;
      case Tag.repeated:
        replace(start, Tag.json, textOf(count()));
        break;
      default:
        throw new RangeError(`no value begins with ${tag}`);
    }
    if (at > bytes.length) throw new RangeError('the bytes end within a value');
  }
  if (kept === 0) return bytes;
  parts.push(bytes.subarray(kept));
  return Buffer.concat(parts);
}

/** A tag, the length of a text in bytes, and the text. */
function textValue(tag: number, text: string): Uint8Array {
  const utf8 = Buffer.from(text, 'utf8');
  const head = [tag];
  let length = utf8.length;
  for (; length > 127; length = Math.floor(length / 128)) head.push((length % 128) | 128);
  head.push(length);
  return Buffer.concat([Buffer.from(head), utf8]);
}
