// Serialises stored objects. Large ones are split over several turns of the event loop, so that they do not delay other
// requests.
import { isJsonArray, type JsonObject, type JsonValue } from '../base/json/index.ts';
import { othersRun } from './others-run.ts';

/** Characters of JSON per turn: about a millisecond. */
const LARGE = 256_000;

/** True if these can be serialised in one turn. */
export function isSmall(object: JsonObject, items: readonly JsonObject[]): boolean {
  const size = sizeUpTo(object, LARGE);
  return size < LARGE && size + sizeUpTo(items, LARGE - size) < LARGE;
}

/** `JSON.stringify` of each value over several turns of the event loop. Resolves in a new turn. */
export async function jsonTexts<const T extends readonly (JsonObject | readonly JsonObject[])[]>(
  values: T,
): Promise<{ readonly [K in keyof T]: string }> {
  const texts: string[] = [];
  for (const value of values) {
    await othersRun();
    const pieces: string[] = [];
    await writeInTurns(value, pieces);
    await othersRun();
    // Joined once for all levels, because each join copies the texts below it.
    texts.push(pieces.join(''));
  }
  await othersRun();
  return texts as unknown as { readonly [K in keyof T]: string };
}

/** Serialises a large value: large members separately, small ones together up to one turn's worth. */
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

/** Approximate length of a value's JSON. Stops counting beyond `most`. */
function sizeUpTo(value: JsonValue | undefined, most: number): number {
  // Most values are strings.
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
