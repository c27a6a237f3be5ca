// Names that a client gives the members which codecs and the engine know by their name in Chat Completions. Knows no
// protocol's names itself: each has its own table.
import { asArray, isJsonObject } from '../base/json/index.ts';
import type { JsonObject, JsonValue } from '../base/json/index.ts';

/**
 * A protocol's names by ours. Where a member can be said in several ways, the one in the body counts, else the first.
 * `[]` stands for the place in a list.
 */
export type ClientNames = Readonly<Record<string, readonly string[]>>;

/**
 * A path in the words of a client.
 * @param path as codecs and the engine write it, e.g. `response_format.json_schema.schema`; what already stands in the
 *   client's own words comes back as it is
 * @param body what the client sent: a member that is in it needs no other name
 */
export function clientName(path: string, names: ClientNames, body: JsonObject): string {
  const place = /^\w+\[(\d+)\]/.exec(path)?.[1];
  const plain = place === undefined ? path : path.replace(`[${place}]`, '[]');
  for (let end = plain.length; end > 0; end = lastStep(plain, end)) {
    const beginning = plain.slice(0, end);
    const candidates = Object.hasOwn(names, beginning) ? names[beginning] : undefined;
    if (!candidates) continue;
    const inPlace = candidates.map((name) => (place === undefined ? name : name.replace('[]', `[${place}]`)));
    const said = inPlace.find((name) => isIn(body, name));
    if (said === undefined && isIn(body, rootOf(path))) return path;
    return (said ?? inPlace[0] ?? path) + plain.slice(end);
  }
  return path;
}

/** Begin of the last step of the path that ends at `end`; 0 for a path of one step. */
function lastStep(path: string, end: number): number {
  return Math.max(0, path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1));
}

function rootOf(path: string): string {
  return /^\w*/.exec(path)?.[0] ?? '';
}

function isIn(body: JsonObject, path: string): boolean {
  let value: JsonValue | undefined = body;
  for (const step of path.split(/[.[\]]+/)) {
    if (step === '') continue;
    if (isJsonObject(value)) value = Object.hasOwn(value, step) ? value[step] : undefined;
    else value = asArray(value)[Number(step)];
    if (value === undefined || value === null) return false;
  }
  return true;
}
