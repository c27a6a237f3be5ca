// The addresses to which clients of a protocol POST: those of the protocol, and those of tasks besides text. Answers nothing.
import { postRoutes } from '../engine/index.ts';
import type { ClientAddress, ClientOperation, ClientRoute, ServedProtocol } from '../protocols/index.ts';

/** All of them, one for each path. */
export function clientRoutes(protocol: ServedProtocol): readonly ClientRoute[] {
  const byPath = new Map<string, ClientRoute>();
  for (const route of postRoutes(protocol)) {
    const before = byPath.get(route.path);
    byPath.set(route.path, before ? together(before, route) : route);
  }
  return [...byPath.values()];
}

/** Two routes of one path: the first that knows an address has it. */
function together(first: ClientRoute, second: ClientRoute): ClientRoute {
  return {
    ...first,
    operation: (address) => operationAt(first, address) ?? operationAt(second, address),
    methods: [...(first.methods ?? []), ...(second.methods ?? [])],
  };
}

/** The operation at an address of a route; undefined for one that is not served. */
export function operationAt({ operation }: ClientRoute, address: ClientAddress): ClientOperation | undefined {
  return typeof operation === 'function' ? operation(address) : operation;
}
