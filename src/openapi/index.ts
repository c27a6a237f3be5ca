// The description of the whole API, and the page that shows it. The description is made when somebody first asks for it.
import type { ServedRoute } from '../server/routes/served-routes.ts';
import { referencePage } from './reference-page.ts';

let made: Promise<string> | undefined;

/**
 * Answers `/openapi.json`, `/docs`, and what is below that.
 * @param served what the server answers besides the management API; the same each time
 * @throws GatewayError `not_found`
 */
export async function describeApi(path: string, served: readonly ServedRoute[]): Promise<Response> {
  if (path !== '/openapi.json') return referencePage(path);
  made ??= describe(served);
  return new Response(await made, { headers: { 'content-type': 'application/json' } });
}

async function describe(served: readonly ServedRoute[]): Promise<string> {
  const { apiDescription } = await import('./api-description.ts');
  return JSON.stringify(apiDescription(served));
}
