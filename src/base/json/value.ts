// JSON values as they travel, and the narrowing that codecs need. Knows nothing of any protocol.
import { nestsDeeper, opensMore } from './text.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}
/** An object under construction; `undefined` members vanish when it is serialised. */
export type MutableJsonObject = Record<string, JsonValue | undefined>;

/** True for a JSON object: not null and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Array.isArray` that keeps the element type `unknown`, so that elements must be narrowed. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value when it is a string, else undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value when it is a finite number, else undefined. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value when it is an object, else an empty one: for reading optional members of foreign answers. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : EMPTY;
}

/** The value when it is an array, else an empty one. */
export function asArray(value: unknown): readonly JsonValue[] {
  return isJsonArray(value) ? value : NONE;
}

/**
 * Parses JSON text; undefined when it is not JSON, nests deeper than `MAX_ANSWER_DEPTH`, which would stall its readers, or
 * opens more than `MAX_ANSWER_NODES` objects and arrays.
 */
export function parseJson(text: string): JsonValue | undefined {
  if (nestsDeeper(text, MAX_ANSWER_DEPTH) || opensMore(text, MAX_ANSWER_NODES)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The members of `object` whose keys are not in `known`; undefined when there are none. */
export function unknownMembers(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: MutableJsonObject | undefined;
  for (const key in object) {
    // Assigning `__proto__` would change the copy's prototype instead of adding a member.
    if (known.has(key) || key === '__proto__') continue;
    rest ??= {};
    rest[key] = object[key];
  }
  return rest;
}

/** The members of `object` whose keys are in `known` and that have a value. */
export function knownMembers(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  const kept: MutableJsonObject = {};
  for (const key in object) if (known.has(key) && object[key] !== undefined) kept[key] = object[key];
  return kept;
}

const EMPTY: JsonObject = Object.freeze({});
const NONE: readonly JsonValue[] = Object.freeze([]);

// Bounds of one JSON text from an upstream or a tool server. A text beyond them is refused before it is parsed.

/** Levels of nesting. Larger than what any client may send. */
export const MAX_ANSWER_DEPTH = 256;
/** Objects and arrays. Parsed, each takes far more memory than its two characters. */
export const MAX_ANSWER_NODES = 2_000_000;
