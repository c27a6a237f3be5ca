// Grows inputs and measures what that costs: every text, list and object of a JSON value, one at a time, becomes n times
// as large. For tests that work takes no longer than its input is long.
import { usedMs } from '../../src/base/runtime/machine.ts';

/** One growth of a value: where, and how. */
export interface Shape {
  readonly name: string;
  /** The value with `n` times as much of it. Sizes are chosen so that n = 1 can be measured. */
  readonly grow: (n: number) => unknown;
}

/** Elements, members and characters at n = 1. */
const ELEMENTS = 200;
const MEMBERS = 300;
const CHARS = 6000;
/** Texts that scanners trip over. */
const HARD: readonly string[] = [
  'a ',
  '"\\',
  '{[',
  ' ',
  '\n',
  '```',
  '<a',
  'data:image/png;base64,',
  'https://a.b/?',
  'a.b,c;',
];
/** Members that name something which others refer to: each copy of a list's elements has names of its own. */
const NAMES: ReadonlySet<string> = new Set([
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'toolUseId',
  'callId',
  'item_id',
  'itemId',
  'name',
  'url',
  'file_id',
  'server_label',
]);

/**
 * Every way to grow a value. Of lists whose elements look alike, and of texts in the same place of such elements, the
 * first stands for all.
 * @param seen names of shapes that need not be made again; gets those that are made
 */
export function shapesOf(value: unknown, seen: Set<string>, prefix = ''): Shape[] {
  const shapes: Shape[] = [];
  const add = (
    name: string,
    path: readonly (string | number)[],
    grow: (inner: unknown, n: number) => unknown,
  ): void => {
    if (seen.has(name)) return;
    seen.add(name);
    shapes.push({ name, grow: (n) => replaced(value, path, (inner) => grow(inner, n)) });
  };
  const walk = (inner: unknown, path: readonly (string | number)[], name: string): void => {
    if (typeof inner === 'string') {
      // One hard text for each place, another one for the next.
      const hard = HARD[seen.size % HARD.length] ?? '';
      add(
        `${name} text`,
        path,
        (text, n) => String(text) + hard.repeat(Math.ceil((CHARS * n) / hard.length)),
      );
      return;
    }
    if (typeof inner !== 'object' || inner === null) return;
    if (Array.isArray(inner)) {
      if (inner.length > 0) {
        add(`${name} list`, path, (list, n) => copies(list as unknown[], ELEMENTS * n, true));
        add(`${name} list of the same`, path, (list, n) => copies(list as unknown[], ELEMENTS * n, false));
      }
      for (const [index, each] of inner.entries()) walk(each, [...path, index], `${name}[${kindOf(each)}]`);
      return;
    }
    add(`${name} members`, path, (object, n) => {
      const grown: Record<string, unknown> = { ...(object as object) };
      for (let index = 0; index < MEMBERS * n; index++) grown[`x_${index}`] = 'y';
      return grown;
    });
    for (const [key, each] of Object.entries(inner)) walk(each, [...path, key], `${name}.${key}`);
  };
  walk(value, [], prefix);
  return shapes;
}

/**
 * Every way in which one element of a list becomes many, at its place: each with names of its own, and with numbers of
 * its own. Elements that look alike are one.
 */
export function repetitionsOf(list: readonly unknown[], seen: Set<string>): Shape[] {
  return list.flatMap((each, place) => {
    const name = `repeated ${JSON.stringify(each, (key, value: unknown) => (key === '' || typeof value === 'object' || key === 'type' ? value : typeof value))}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return (['the same', 'numbered'] as const).map((how): Shape => ({
      name: `${name}, ${how}`,
      grow: (n) => [
        ...list.slice(0, place),
        ...Array.from({ length: ELEMENTS * n }, (_, index) =>
          how === 'the same' ? each : numbered(each, index),
        ),
        ...list.slice(place + 1),
      ],
    }));
  });
}

/** With its own names and, where it has an index, its own. */
function numbered(value: unknown, by: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => numbered(each, by));
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value))
    if (typeof each === 'number' && /index$/i.test(key)) copy[key] = each + by;
    else copy[key] = NAMES.has(key) && typeof each === 'string' ? `${each}_${by}` : numbered(each, by);
  return copy;
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  const { type, role } = value as { type?: unknown; role?: unknown };
  const own = [role, type].filter((word) => typeof word === 'string').join(' ');
  return own === '' ? Object.keys(value).slice(0, 2).join(' ') : own;
}

/** So many elements, the given ones over and over. @param named each round has names of its own */
function copies(list: readonly unknown[], count: number, named: boolean): unknown[] {
  return Array.from({ length: count }, (_, index) => {
    const each = list[index % list.length];
    return named ? renamed(each, `_${Math.floor(index / list.length)}`) : each;
  });
}

function renamed(value: unknown, suffix: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, suffix));
  const copy: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value))
    copy[key] = NAMES.has(key) && typeof each === 'string' ? each + suffix : renamed(each, suffix);
  return copy;
}

function replaced(
  value: unknown,
  path: readonly (string | number)[],
  by: (inner: unknown) => unknown,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return by(value);
  const copy: Record<string, unknown> = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as never;
  copy[step] = replaced(copy[step], rest, by);
  return copy;
}

/** Below so many milliseconds nothing is told apart from chance. */
const MEASURABLE = 1;

/** Number of measurements of each size, of which the best counts: other work on the machine only ever makes one worse. */
const MEASUREMENTS = 8;
/** More times as long than this for four times as much is looked at again, with more. */
export const LINEAR = 5;
/**
 * More than this is not linear, however much of it there is: half way between 4 and the 16 of what is quadratic. Large
 * inputs are a little dearer by themselves, since they fill the processor's caches.
 */
export const MOST_GROWTH = 8;

/**
 * How many times as long four times as much takes. At most 5 is linear. What is more may be chance, or a collection of
 * garbage that was due: it is believed where it goes on with inputs of four times that size, and of sixteen.
 * @param prepare gives the work for a size; what it does itself is not measured
 */
export function growthOf(prepare: (n: number) => () => void): number {
  let growth = 0;
  for (const size of [1, 4, 16]) {
    growth = growthFrom(prepare, size);
    if (growth <= LINEAR) break;
  }
  return growth;
}

function growthFrom(prepare: (n: number) => () => void, size: number): number {
  const large = prepare(4 * size);
  let four = timeOf(large);
  // However short the small one is, it is not told apart from this.
  if (four <= LINEAR * MEASURABLE) return four / MEASURABLE;
  const small = prepare(size);
  let one = timeOf(small);
  for (let more = 1; more < MEASUREMENTS && four / Math.max(one, MEASURABLE) > LINEAR; more++) {
    four = Math.min(four, timeOf(large));
    one = Math.min(one, timeOf(small));
  }
  return four / Math.max(one, MEASURABLE);
}

/** For how long a growth that waits for something is measured again, in milliseconds. */
const SETTLING_MS = 3000;

/**
 * How many times as long four times as much takes, of work that waits in between: the best of each, measured in turns,
 * so that both meet the same machine, until at most 5 are left or the time is up, and eight times at least.
 * @param measure does the work of a size. @returns how many milliseconds that took
 */
export async function settledGrowth(measure: (n: number) => number | Promise<number>): Promise<number> {
  const until = performance.now() + SETTLING_MS;
  await measure(1);
  let [one, four] = [Infinity, Infinity];
  let measured = 0;
  do {
    one = Math.min(one, await measure(1));
    four = Math.min(four, await measure(4));
    measured += 1;
  } while (
    four / Math.max(one, MEASURABLE) > LINEAR &&
    (measured < MEASUREMENTS || performance.now() < until)
  );
  return four / Math.max(one, MEASURABLE);
}

/**
 * For a test that judges by how long something took: other work on the machine only ever makes that longer, so one of
 * three tries counts.
 */
export const BEST_OF_THREE = { retry: 2 } as const;

/** Milliseconds of computing, which other processes do not add to. */
function timeOf(work: () => void): number {
  const before = usedMs();
  work();
  return usedMs() - before;
}
