// Reads members out of parsed JSON of unknown shape. For tests.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The value at a path; negative indices count from the end; undefined when there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): Json | undefined {
  let current: unknown = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Array.isArray(current) ? current.at(Number(step)) : (current as Record<string, unknown>)[step];
  }
  return current as Json | undefined;
}

/** The array at a path; empty when there is none. */
export function list(value: unknown, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as readonly Json[]) : [];
}
