// Reads and validates vectors from upstream answers, for all protocols with embeddings.
import type { JsonValue } from '../../../base/json/index.ts';
import { isJsonArray } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Vector } from './model.ts';

/**
 * Reads one vector from each entry of an answer.
 * @param entries the answer's list, of any type
 * @param count number of inputs that were sent
 * @param vectorOf finds the vector in an entry
 * @throws GatewayError `upstream_unavailable` for a different number of entries, or an invalid vector: some servers
 * write `null` where a number overflowed
 */
export function readVectors(
  entries: JsonValue | undefined,
  count: number,
  vectorOf: (entry: JsonValue) => JsonValue | undefined,
): readonly Vector[] {
  const found = isJsonArray(entries) ? entries.length : 'no';
  if (!isJsonArray(entries) || entries.length !== count)
    throw broken(`returned ${found} embeddings for ${count} inputs`);
  return entries.map((entry) => {
    const vector = vectorOf(entry);
    if (isVector(vector)) return vector;
    throw broken('returned an embedding that is not a list of numbers');
  });
}

function isVector(value: JsonValue | undefined): value is Vector {
  if (!isJsonArray(value)) return typeof value === 'string' && value !== '';
  return value.length > 0 && value.every(Number.isFinite);
}

function broken(what: string): GatewayError {
  return new GatewayError('upstream_unavailable', `the upstream ${what}`);
}
