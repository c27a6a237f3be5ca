// POST routes of a protocol's clients: its own and those of tasks other than text.
import { postRoutes } from '../engine/index.ts';
import type { ClientAddress, ClientOperation, ClientRoute, ServedProtocol } from '../protocols/index.ts';

/** All routes, one per path. */
export function clientRoutes(protocol: ServedProtocol): readonly ClientRoute[] {
  const byPath = new Map<string, ClientRoute>();
  for (const route of postRoutes(protocol)) {
    const before = byPath.get(route.path);
    byPath.set(route.path, before ? together(before, route) : route);
  }
  return [...byPath.values()];
}

/** Combines two routes with one path; the first that has an operation for an address takes precedence. */
function together(first: ClientRoute, second: ClientRoute): ClientRoute {
  return {
    ...first,
    operation: (address) => operationAt(first, address) ?? operationAt(second, address),
    methods: [...(first.methods ?? []), ...(second.methods ?? [])],
  };
}

/** The operation of an address. Undefined: none. */
export function operationAt({ operation }: ClientRoute, address: ClientAddress): ClientOperation | undefined {
  return typeof operation === 'function' ? operation(address) : operation;
}
