// JSON texts of stored things. Small ones at once; of large ones each item in its own turn of the event loop, so that
// nobody's stream waits for somebody's long answer.
import type { JsonObject, JsonValue } from '../canonical/index.ts';

/** Characters of JSON that are made in one go: about a millisecond. */
const LARGE = 256_000;

/** Whether these may be made JSON in one go. */
export function isSmall(...values: readonly (JsonObject | readonly JsonObject[])[]): boolean {
  let size = 0;
  for (const value of values) size += sizeUpTo(value, LARGE - size);
  return size < LARGE;
}

/** `JSON.stringify` of each, in several turns of the event loop and with a new one at the end. */
export async function jsonTexts(values: readonly (JsonObject | readonly JsonObject[])[]): Promise<string[]> {
  const texts: string[] = [];
  for (const value of values) {
    await nextTurn();
    texts.push(await inTurns(value));
  }
  await nextTurn();
  return texts;
}

/** The JSON of a large value: its large members one after another, small ones together up to a turn's worth. */
async function inTurns(value: JsonValue): Promise<string> {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pieces: string[] = [];
  const isList = Array.isArray(value);
  let made = 0;
  for (const [key, member] of Object.entries(value as Readonly<Record<string, JsonValue | undefined>>)) {
    if (member === undefined && !isList) continue;
    const isLarge = sizeUpTo(member, LARGE) >= LARGE;
    const text = isLarge && member !== undefined ? await inTurns(member) : JSON.stringify(member ?? null);
    pieces.push(isList ? text : `${JSON.stringify(key)}:${text}`);
    made += text.length;
    if (made < LARGE) continue;
    await nextTurn();
    made = 0;
  }
  return isList ? `[${pieces.join(',')}]` : `{${pieces.join(',')}}`;
}

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** About the characters of the value's JSON; not counted further when there are more than `most`. */
function sizeUpTo(value: JsonValue | undefined, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) {
      size += 1 + sizeUpTo(item, most - size);
      if (size >= most) break;
    }
    return size;
  }
  const object = value as JsonObject;
  for (const key in object) {
    size += key.length + 4 + sizeUpTo(object[key], most - size);
    if (size >= most) break;
  }
  return size;
}
