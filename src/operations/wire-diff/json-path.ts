// Places in a JSON body, written as reports write them: `messages[1].content[0].text`.
import { isJsonArray, isJsonObject, type JsonValue } from '../../base/json/index.ts';

/** Nodes below a place that are looked at. */
const MOST_LOOKED_AT = 2_000;

/** Value at a path; undefined where nothing is. */
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

/** The path of a member or an element. */
export function below(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

/** Everything that stands directly in a value, with its path. */
export function childrenOf(value: JsonValue, path: string): readonly (readonly [string, JsonValue])[] {
  if (isJsonArray(value)) return value.map((each, place) => [below(path, place), each] as const);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    each === undefined ? [] : [[below(path, name), each] as const],
  );
}

/** The first place at or below a path where something holds; undefined where it does nowhere. */
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

/** The first step of a path. */
export function rootOf(path: string): string {
  return /^[^.[]*/.exec(path)?.[0] ?? '';
}

/** True for the same place, and for one that contains the other. */
export function areRelated(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

/** True for the same place, and for one inside of it. */
export function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}
