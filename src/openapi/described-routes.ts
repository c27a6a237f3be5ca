// Compares what is described with what the server answers: each served route belongs to an operation, and each operation to
// a route. Most paths are served under several bases, of which an operation names one.
import type { ServedRoute } from '../server/routes/served-routes.ts';
import type { Operation } from './operation.ts';

/** Beginnings of paths under which the same is served, each with the one that operations name. */
const BASES: readonly (readonly [RegExp, string])[] = [
  [/^\/api\/vertex-ai\/v1(?:beta1?)?(?:\/publishers\/\{\})?\//, '/v1beta/'],
  [/^(?:\/api)?\/v1(?:beta1?)?\/interactions/, '/v1beta/interactions'],
  [/^\/api\/(?:anthropic\/)?v1\//, '/v1/'],
  [/^\/(?=(?:chat|responses|messages|embeddings|models)(?:\/|$))/, '/v1/'],
];

/**
 * The served paths of each operation.
 * @throws Error naming what nobody described, and what is described and not served
 */
export function describedRoutes(
  operations: readonly Operation[],
  served: readonly ServedRoute[],
): ReadonlyMap<Operation, readonly string[]> {
  const paths = new Map<Operation, string[]>(operations.map((operation) => [operation, []]));
  const missing: string[] = [];
  for (const { method, path } of served) {
    const found = operations.filter((operation) => describes(operation, method, path));
    for (const operation of found) paths.get(operation)?.push(path);
    if (found.length === 0) missing.push(`${method} ${path}`);
  }
  const extra = [...paths].filter(([, at]) => at.length === 0).map(([{ id }]) => id);
  if (missing.length > 0 || extra.length > 0)
    throw new Error(
      `not described: ${missing.join(', ') || 'nothing'}; not served: ${extra.join(', ') || 'nothing'}`,
    );
  return paths;
}

function describes(operation: Operation, method: string, path: string): boolean {
  if (operation.method.toUpperCase() !== method) return false;
  if (operation.alsoAt?.some((other) => usual(other) === usual(path))) return true;
  return usual(operation.path) === usual(path);
}

/** A path with nameless parameters, under the base that operations name. */
function usual(path: string): string {
  const nameless = path.replaceAll(/:\w+\{[^}]*\}|:\w+(?=\/|$)|\{\w+\}|(?<=\/)\*$/g, '{}');
  const [pattern, base] = BASES.find(([beginning]) => beginning.test(nameless)) ?? [];
  return pattern && base !== undefined ? nameless.replace(pattern, base) : nameless;
}
