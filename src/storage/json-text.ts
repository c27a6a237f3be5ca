// JSON texts of stored things. Small ones at once; of large ones each item in its own turn of the event loop, so that
// nobody's stream waits for somebody's long answer.
import { isJsonArray, type JsonObject, type JsonValue } from '../base/json/index.ts';
import { othersRun } from './others-run.ts';

/** Characters of JSON that are made in one go: about a millisecond. */
const LARGE = 256_000;

/** Whether these may be made JSON in one go. */
export function isSmall(object: JsonObject, items: readonly JsonObject[]): boolean {
  const size = sizeUpTo(object, LARGE);
  return size < LARGE && size + sizeUpTo(items, LARGE - size) < LARGE;
}

/** `JSON.stringify` of each, in several turns of the event loop and with a new one at the end. */
export async function jsonTexts<const T extends readonly (JsonObject | readonly JsonObject[])[]>(
  values: T,
): Promise<{ readonly [K in keyof T]: string }> {
  const texts: string[] = [];
  for (const value of values) {
    await othersRun();
    const pieces: string[] = [];
    await writeInTurns(value, pieces);
    await othersRun();
    // The text is made once for all levels: each copies what is below it.
    texts.push(pieces.join(''));
  }
  await othersRun();
  return texts as unknown as { readonly [K in keyof T]: string };
}

/** Writes the JSON of a large value: its large members one after another, small ones together up to a turn's worth. */
async function writeInTurns(value: JsonValue, pieces: string[]): Promise<void> {
  if (typeof value !== 'object' || value === null) {
    pieces.push(JSON.stringify(value));
    return;
  }
  const isList = Array.isArray(value);
  let made = 0;
  let before = isList ? '[' : '{';
  for (const [key, member] of Object.entries(value as Readonly<Record<string, JsonValue | undefined>>)) {
    if (member === undefined && !isList) continue;
    pieces.push(isList ? before : `${before}${JSON.stringify(key)}:`);
    before = ',';
    if (member !== undefined && sizeUpTo(member, LARGE) >= LARGE) {
      await writeInTurns(member, pieces);
      made = LARGE;
    } else {
      const text = JSON.stringify(member ?? null);
      pieces.push(text);
      made += text.length;
    }
    if (made < LARGE) continue;
    await othersRun();
    made = 0;
  }
  if (before !== ',') pieces.push(before);
  pieces.push(isList ? ']' : '}');
}

/** About the characters of the value's JSON; not counted further when there are more than `most`. */
function sizeUpTo(value: JsonValue | undefined, most: number): number {
  // Most values end here: what follows is only called for the others.
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? sizeInside(value, most) : 4;
}

function sizeInside(value: JsonObject | readonly JsonValue[], most: number): number {
  let size = 2;
  if (isJsonArray(value)) {
    for (const item of value) {
      size += 1 + sizeUpTo(item, most - size);
      if (size >= most) break;
    }
    return size;
  }
  for (const key in value) {
    size += key.length + 4 + sizeUpTo(value[key], most - size);
    if (size >= most) break;
  }
  return size;
}
