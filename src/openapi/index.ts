// The description of the whole API, and the page that shows it.
import type { JsonObject } from '../canonical/index.ts';
import { MANAGEMENT_BASES, ROUTES } from '../management/index.ts';
import type { ServedRoute } from '../server/served-routes.ts';
import { openApiDocument } from './document.ts';
import { OPERATIONS } from './operations/index.ts';
import { referencePage } from './reference-page.ts';

let made: JsonObject | undefined;

/**
 * Answers `/openapi.json`, `/docs`, and what is below that.
 * @param served what the server answers besides the management API; the same each time
 * @throws GatewayError `not_found`
 */
export async function describeApi(path: string, served: readonly ServedRoute[]): Promise<Response> {
  if (path !== '/openapi.json') return referencePage(path);
  made ??= openApiDocument(OPERATIONS, [...served, ...MANAGED]);
  return Response.json(made);
}

const MANAGED: readonly ServedRoute[] = MANAGEMENT_BASES.flatMap((base) =>
  ROUTES.map(({ method, path }) => ({ method: method.toUpperCase(), path: base + path })),
);
