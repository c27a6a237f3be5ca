// Normalizes Google's JSON: member names in two spellings, two base64 alphabets, and Google's own schema types.
import type { JsonObject, JsonValue, MutableJsonObject } from '../src/base/json/index.ts';
import { asObject, isJsonArray, isJsonObject } from '../src/base/json/index.ts';

/**
 * Copy with member names in lower camel case (Protocol Buffers, "ProtoJSON Format"). Nested objects are not changed.
 */
export function camel(value: JsonValue | undefined): JsonObject {
  const renamed: MutableJsonObject = {};
  const object = asObject(value);
  for (const key in object)
    renamed[key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase())] = object[key];
  return renamed;
}

/** Bytes in the standard base64 alphabet. The API also accepts the URL-safe one. */
export function standardAlphabet(bytes: string): string {
  const standard = bytes.replaceAll('-', '+').replaceAll('_', '/');
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=');
}

/** JSON Schema for a schema of Google's (`"type": "STRING"`). JSON Schema is returned unchanged. */
export function jsonSchema(schema: JsonValue | undefined): JsonObject {
  const lowered = lower(schema, 0);
  return isJsonObject(lowered) ? lowered : {};
}

function lower(value: JsonValue | undefined, depth: number): JsonValue | undefined {
  if (depth > 60) return value;
  if (isJsonArray(value)) return value.map((element) => lower(element, depth + 1) ?? null);
  if (!isJsonObject(value)) return value;
  const lowered: MutableJsonObject = {};
  for (const key in value) {
    const inner = value[key];
    lowered[key] =
      key === 'type' && typeof inner === 'string' ? inner.toLowerCase() : lower(inner, depth + 1);
  }
  return lowered;
}
