// Finds in a body what another one says, by the values alone: for bodies that no codec reads as a request, and for answers,
// whose decoders name no paths.
import { isJsonObject, type JsonValue } from '../../base/json/index.ts';
import { childrenOf } from './json-path.ts';
import type { Said } from './said.ts';

/** Places that are looked at in one body. */
const MOST_PLACES = 100_000;
const ANYWHERE = /^/;
/** Members of answers that hold counts of tokens; elsewhere the same number is chance. */
const COUNTS = /^\w*usage\w*\b/i;
/** Nodes of an object that is looked for as a whole. */
const MOST_NODES = 60;

/** Places of each value, in the order of the body; each place is given once. */
class ValuePlaces {
  readonly #places = new Map<string, string[]>();

  constructor(body: JsonValue) {
    const queue: (readonly [string, JsonValue])[] = [['', body]];
    for (let at = 0; at < queue.length && at < MOST_PLACES; at += 1) {
      const [path, value] = queue[at] ?? ['', null];
      const children = childrenOf(value, path);
      queue.push(...children);
      // Containers of texts and numbers alone are looked for as a whole, too: arguments and schemas.
      if (isSmall(value)) this.#note(value, path);
    }
  }

  /** The next place of a value; null where there is none any more. @param among what its path must be like */
  next(value: JsonValue, among = ANYWHERE): string | null {
    const places = this.#places.get(JSON.stringify(value)) ?? [];
    const at = places.findIndex((path) => among.test(path));
    return at < 0 ? null : (places.splice(at, 1)[0] ?? null);
  }

  #note(value: JsonValue, path: string): void {
    const key = JSON.stringify(value);
    const known = this.#places.get(key);
    if (known) known.push(path);
    else this.#places.set(key, [path]);
  }
}

/** True for what can be written out in no time, however often it is looked at. */
function isSmall(value: JsonValue): boolean {
  const queue = [value];
  for (let at = 0; at < queue.length; at += 1) {
    if (at > MOST_NODES) return false;
    for (const [, child] of childrenOf(queue[at] ?? null, '')) queue.push(child);
  }
  return true;
}

/** The same things with their places in a body, as far as it holds them. */
export function withPlaces(said: readonly Said[], body: JsonValue): readonly Said[] {
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

/** Values of one side that a body holds as well. */
export function heldIn(said: readonly Said[], body: JsonValue): readonly Said[] {
  return withPlaces(said, body).filter(({ path }) => path !== null);
}
