// Types of JSON values, functions that narrow unknown values to them, and a bounded parser.
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

/** The value if it is a string, else undefined. */
export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value if it is a finite number, else undefined. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value if it is an object, else an empty object. For optional members of upstreams' answers. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : EMPTY;
}

/** The value if it is an array, else an empty array. */
export function asArray(value: unknown): readonly JsonValue[] {
  return isJsonArray(value) ? value : NONE;
}

/**
 * Parses JSON text. Returns undefined if it is not valid JSON, nests deeper than `MAX_ANSWER_DEPTH`, or opens more than
 * `MAX_ANSWER_NODES` objects and arrays.
 */
export function parseJson(text: string): JsonValue | undefined {
  if (nestsDeeper(text, MAX_ANSWER_DEPTH) || opensMore(text, MAX_ANSWER_NODES)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The members of `object` whose keys are not in `known`; undefined if there are none. */
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

// Bounds of one JSON text from an upstream or a tool server. A larger text is refused before it is parsed.

/** Levels of nesting. More than a client may send. */
export const MAX_ANSWER_DEPTH = 256;
/** Number of objects and arrays. Once parsed, each takes far more memory than its two characters. */
export const MAX_ANSWER_NODES = 2_000_000;
