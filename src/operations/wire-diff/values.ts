// Finds values of one side in the body of the other, by value alone: for bodies that no codec can read as a request,
// and for answers, whose decoders report no paths.
import { isJsonObject, type JsonValue } from '../../base/json/index.ts';
import { childrenOf } from './json-path.ts';
import type { ComparedValue } from './compared-values.ts';

/** Maximum number of nodes to visit in a body. */
const MOST_PLACES = 100_000;
const ANY_PATH = /^/;
/** Paths with token counts in answers. Elsewhere an equal number is a coincidence. */
const COUNTS = /^\w*usage\w*\b/i;
/** Maximum nodes of an object that is searched for as a whole. */
const MOST_NODES = 60;

/** Paths by value, in order of the body. Each path is returned once. */
class ValuePlaces {
  readonly #places = new Map<string, string[]>();

  constructor(body: JsonValue) {
    const queue: (readonly [string, JsonValue])[] = [['', body]];
    for (let at = 0; at < queue.length && at < MOST_PLACES; at += 1) {
      const [path, value] = queue[at] ?? ['', null];
      const children = childrenOf(value, path);
      queue.push(...children);
      // Small containers, such as arguments and schemas, can also be found as a whole.
      if (isSmall(value)) this.#note(value, path);
    }
  }

  /** Next path of a value; null: none left. @param pattern pattern that the path must match */
  next(value: JsonValue, pattern = ANY_PATH): string | null {
    const places = this.#places.get(JSON.stringify(value)) ?? [];
    const at = places.findIndex((path) => pattern.test(path));
    return at < 0 ? null : (places.splice(at, 1)[0] ?? null);
  }

  #note(value: JsonValue, path: string): void {
    const key = JSON.stringify(value);
    const known = this.#places.get(key);
    if (known) known.push(path);
    else this.#places.set(key, [path]);
  }
}

/** True if a value is cheap to serialise. */
function isSmall(value: JsonValue): boolean {
  const queue = [value];
  for (let at = 0; at < queue.length; at += 1) {
    if (at > MOST_NODES) return false;
    for (const [, child] of childrenOf(queue[at] ?? null, '')) queue.push(child);
  }
  return true;
}

/** The values with their paths in a body, if found. */
export function withPlaces(said: readonly ComparedValue[], body: JsonValue): readonly ComparedValue[] {
  const places = new ValuePlaces(body);
  return said.map((one) => {
    const value = one.word ?? one.value;
    if (typeof value === 'number') return { ...one, path: value === 0 ? null : places.next(value, COUNTS) };
    return {
      ...one,
      path: places.next(value) ?? (isJsonObject(value) ? places.next(JSON.stringify(value)) : null),
    };
  });
}

/** The values that a body contains. */
export function valuesIn(said: readonly ComparedValue[], body: JsonValue): readonly ComparedValue[] {
  return withPlaces(said, body).filter(({ path }) => path !== null);
}
