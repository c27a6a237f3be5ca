// Google's JSON as the simulated service reads it: every member has two names, signatures have two alphabets, and
// schemas may be written in words of its own. Knows nothing of what the members mean.
import type { JsonObject, JsonValue, MutableJsonObject } from '../src/base/json/index.ts';
import { asObject, isJsonArray, isJsonObject } from '../src/base/json/index.ts';

/** The object with its own members in lower camel case (Protocol Buffers, "ProtoJSON Format"). */
export function camel(value: JsonValue | undefined): JsonObject {
  const renamed: MutableJsonObject = {};
  const object = asObject(value);
  for (const key in object)
    renamed[key.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase())] = object[key];
  return renamed;
}

/** Bytes in the standard alphabet of base64: the field takes the URL-safe one as well. */
export function standardAlphabet(bytes: string): string {
  const standard = bytes.replaceAll('-', '+').replaceAll('_', '/');
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=');
}

/** A schema of Google's own (`"type": "STRING"`) as JSON Schema; JSON Schema stays as it is. */
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
