// JSON paths as written in translation reports: `messages[1].content[0].text`.
import { isJsonArray, isJsonObject, type JsonValue } from '../../base/json/index.ts';

/** Maximum number of nodes that `placeBelow` visits. */
const MOST_LOOKED_AT = 2_000;

/** Value at a path; undefined: none. */
export function valueAt(body: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const step of path.split(/[.[\]]+/)) {
    if (step === '') continue;
    if (isJsonArray(value)) value = value[Number(step)];
    else if (isJsonObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

/** Path of a member or element. */
export function below(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

/** Direct members or elements of a value, with their paths. */
export function childrenOf(value: JsonValue, path: string): readonly (readonly [string, JsonValue])[] {
  if (isJsonArray(value)) return value.map((each, place) => [below(path, place), each] as const);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    each === undefined ? [] : [[below(path, name), each] as const],
  );
}

/** First path, at or below a path, whose value meets a condition; undefined: none. */
export function placeBelow(
  body: JsonValue,
  path: string,
  holds: (value: JsonValue) => boolean,
): string | undefined {
  const start = valueAt(body, path);
  if (start === undefined) return undefined;
  const queue: (readonly [string, JsonValue])[] = [[path, start]];
  for (let at = 0; at < queue.length && at < MOST_LOOKED_AT; at += 1) {
    const [place, value] = queue[at] ?? ['', null];
    if (holds(value)) return place;
    queue.push(...childrenOf(value, place));
  }
  return undefined;
}

/** First step of a path. */
export function rootOf(path: string): string {
  return /^[^.[]*/.exec(path)?.[0] ?? '';
}

/** True if the paths are equal, or one contains the other. */
export function areRelated(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

/** True if `inner` is equal to `outer` or below it. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}
