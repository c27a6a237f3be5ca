// The description of this gateway: all operations, compared with all that is served.
import type { JsonObject } from '../canonical/index.ts';
import { MANAGEMENT_BASES, ROUTES } from '../management/index.ts';
import type { ServedRoute } from '../server/routes/served-routes.ts';
import { openApiDocument } from './document.ts';
import { OPERATIONS } from './operations/index.ts';

/** @param served what the server answers besides the management API @throws Error where the two do not fit */
export function apiDescription(served: readonly ServedRoute[]): JsonObject {
  const managed = MANAGEMENT_BASES.flatMap((base) =>
    ROUTES.map(({ method, path }) => ({ method: method.toUpperCase(), path: base + path })),
  );
  return openApiDocument(OPERATIONS, [...served, ...managed]);
}
