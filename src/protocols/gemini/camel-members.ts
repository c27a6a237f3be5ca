// Normalizes member names: Google's JSON accepts each in two spellings, `inlineData` and `inline_data` (Protocol
// Buffers, "ProtoJSON Format").
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';

/** Returns the object with its own members in lower camel case; the same object if nothing is renamed. */
export function camelMembers(raw: JsonObject): JsonObject {
  let isCamel = true;
  for (const key in raw) if (key.includes('_')) isCamel = false;
  if (isCamel) return raw;
  const renamed: MutableJsonObject = {};
  for (const key in raw) {
    const name = camelName(key);
    // If both spellings are present, lower camel case wins.
    if (name === key || raw[name] === undefined) renamed[name] = raw[key];
  }
  return renamed;
}

/** Converts a name to lower camel case. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
