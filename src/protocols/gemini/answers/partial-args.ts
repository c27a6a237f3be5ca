// Assembles call arguments that arrive in pieces addressed by JSON path (`functionCall.partialArgs`, Vertex, on
// request). They are emitted as a whole, because pieces can arrive in any order.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import { asArray, asObject, asString } from '../../../base/json/index.ts';

/** `$.operations[0].action`: a member after each dot, an index or a quoted member in brackets. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g;
/** Limits that no real arguments exceed. */
const MOST_STEPS = 100;
const MOST_ELEMENTS = 10_000;

type Container = MutableJsonObject | JsonValue[];

export class PartialArgs {
  readonly #root: MutableJsonObject = {};

  /** Takes the pieces of one frame (API reference, `PartialArg`, 2026-11). Strings with the same path are joined. */
  add(pieces: JsonValue | undefined): void {
    for (const piece of asArray(pieces)) {
      const { jsonPath, ...value } = asObject(piece);
      const steps = stepsOf(asString(jsonPath) ?? '');
      if (steps.length > 0) put(this.#root, steps, valueOf(value));
    }
  }

  /** Returns the arguments so far. */
  get value(): JsonObject {
    return this.#root;
  }
}

function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, position, single, double] of path.matchAll(STEP)) {
    steps.push(position === undefined ? (name ?? single ?? double ?? '') : Number(position));
  }
  const isSafe = steps.every((step) =>
    typeof step === 'number' ? step < MOST_ELEMENTS : step !== '__proto__',
  );
  return isSafe && steps.length <= MOST_STEPS ? steps : [];
}

function valueOf(piece: JsonObject): JsonValue {
  return piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'] ?? null;
}

function put(root: MutableJsonObject, steps: readonly (string | number)[], value: JsonValue): void {
  let at: Container = root;
  steps.forEach((step, position) => {
    const next = steps[position + 1];
    if (next === undefined) {
      const before = read(at, step);
      write(at, step, typeof before === 'string' && typeof value === 'string' ? before + value : value);
      return;
    }
    let inner = read(at, step);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) !== (typeof next === 'number')) {
      inner = typeof next === 'number' ? [] : {};
      write(at, step, inner);
    }
    // Every container below the root was created here.
    at = inner as Container;
  });
}

function read(at: Container, step: string | number): JsonValue | undefined {
  if (Array.isArray(at)) return typeof step === 'number' ? at[step] : undefined;
  return Object.hasOwn(at, step) ? at[step] : undefined;
}

function write(at: Container, step: string | number, value: JsonValue): void {
  if (!Array.isArray(at)) {
    at[step] = value;
    return;
  }
  if (typeof step !== 'number') return;
  while (at.length < step) at.push(null);
  at[step] = value;
}
