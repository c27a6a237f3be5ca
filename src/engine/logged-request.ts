// A request as a record may keep it: without the credentials that clients send for tools. Pure.
import type { JsonValue, MutableJsonObject } from '../canonical/index.ts';
import { isJsonObject } from '../canonical/index.ts';

/** Members of the body that tell of tools and of servers. */
const LISTS = ['tools', 'mcp_servers'] as const;
/** Members of their elements that are secrets: tokens, and headers with tokens. */
const SECRETS = ['authorization', 'authorization_token', 'headers'] as const;
const MASK = '<redacted>';

/** @param json the body of a request, of any protocol; the same object when there is nothing to hide */
export function withoutCredentials(json: JsonValue): JsonValue {
  if (!isJsonObject(json)) return json;
  let kept: MutableJsonObject | undefined;
  for (const name of LISTS) {
    const list = json[name];
    if (!Array.isArray(list) || !list.some(hasSecret)) continue;
    kept ??= { ...json };
    kept[name] = list.map((element: JsonValue) => (hasSecret(element) ? masked(element) : element));
  }
  return kept ?? json;
}

function hasSecret(element: JsonValue): boolean {
  return isJsonObject(element) && SECRETS.some((name) => Object.hasOwn(element, name));
}

function masked(element: JsonValue): JsonValue {
  const copy: MutableJsonObject = { ...(isJsonObject(element) ? element : {}) };
  for (const name of SECRETS) if (Object.hasOwn(copy, name)) copy[name] = MASK;
  return copy;
}
