// Usage from an upstream that uses the client's protocol: its own object is passed on, with missing members filled in
// from the gateway's counts.
import { asObject, isJsonObject, type JsonObject, type MutableJsonObject } from '../../base/json/index.ts';
import type { ProtocolName, Usage } from '../../canonical/index.ts';

/**
 * Merges the vendor's usage object over the encoded one. Members that are missing or null come from the gateway. If the
 * vendor's counts contradict each other, or its totals differ, the gateway's counts win.
 * @param totals members of the object that are sums of tokens
 * @returns `encoded` unchanged for usage of another protocol, and for estimates
 */
export function mergeVendorUsage(
  usage: Usage,
  protocol: ProtocolName,
  encoded: JsonObject,
  totals: readonly string[],
): JsonObject {
  if (usage.protocol !== protocol || usage.estimated) return encoded;
  const reported = asObject(usage.raw);
  const isTrusted =
    !usage.inconsistent &&
    totals.every((name) => typeof reported[name] !== 'number' || reported[name] === encoded[name]);
  return isTrusted ? mergeOver(encoded, reported) : mergeOver(reported, encoded);
}

/** Merges objects recursively; values of `above` win. */
function mergeOver(below: JsonObject, above: JsonObject): JsonObject {
  const merged: MutableJsonObject = { ...below };
  for (const name in above) {
    const value = above[name];
    if (value === undefined || (value === null && name in below)) continue;
    const under = below[name];
    merged[name] = isJsonObject(value) && isJsonObject(under) ? mergeOver(under, value) : value;
  }
  return merged;
}
