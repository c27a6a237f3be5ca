// Google's JSON takes every member under two names, `inlineData` and `inline_data` (Protocol Buffers, "ProtoJSON
// Format"). This is the one place that brings them to one.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';

/** The object with its own members in lower camel case; the object itself where nothing has to be renamed. */
export function camelMembers(raw: JsonObject): JsonObject {
  let isCamel = true;
  for (const key in raw) if (key.includes('_')) isCamel = false;
  if (isCamel) return raw;
  const renamed: MutableJsonObject = {};
  for (const key in raw) {
    const name = camelName(key);
    // The name that is already right wins over its other spelling.
    if (name === key || raw[name] === undefined) renamed[name] = raw[key];
  }
  return renamed;
}

/** A name in lower camel case. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
