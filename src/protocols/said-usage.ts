// Usage of an upstream that speaks the client's protocol: its own object passes, filled up with the gateway's counts.
// Knows no member by name.
import { asObject, isJsonObject, type JsonObject, type MutableJsonObject } from '../base/json/index.ts';
import type { ProtocolName, Usage } from '../canonical/index.ts';

/**
 * Lays the vendor's own usage object over the encoded one. Members that the vendor left out, or said null of, are the gateway's.
 * Where the vendor's counts contradict each other, or its totals mean something else, the gateway's counts win.
 * @param totals members of the object that are sums of tokens
 * @returns `encoded` itself for usage of another protocol, and for counts of the gateway
 */
export function asVendorSaid(
  usage: Usage,
  protocol: ProtocolName,
  encoded: JsonObject,
  totals: readonly string[],
): JsonObject {
  if (usage.protocol !== protocol || usage.estimated) return encoded;
  const said = asObject(usage.raw);
  const isTrusted =
    !usage.inconsistent &&
    totals.every((name) => typeof said[name] !== 'number' || said[name] === encoded[name]);
  return isTrusted ? laidOver(encoded, said) : laidOver(said, encoded);
}

/** One object over another, and so its objects over those of the other. */
function laidOver(below: JsonObject, above: JsonObject): JsonObject {
  const merged: MutableJsonObject = { ...below };
  for (const name in above) {
    const value = above[name];
    if (value === undefined || (value === null && name in below)) continue;
    const under = below[name];
    merged[name] = isJsonObject(value) && isJsonObject(under) ? laidOver(under, value) : value;
  }
  return merged;
}
