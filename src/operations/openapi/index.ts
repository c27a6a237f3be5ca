// The OpenAPI document of the whole API, and the page that shows it. The document is built on the first request.
import { servedBy, type ServedRoute } from '../../server/routes/served-routes.ts';
import { guidePage, isGuide } from '../guide/index.ts';
import { MANAGEMENT } from '../management/index.ts';
import { referencePage } from './reference-page.ts';

let made: Promise<string> | undefined;

/**
 * Serves `/openapi.json`, `/docs`, and paths below it.
 * @param served routes other than those of the management API; the same on each call
 * @throws GatewayError `not_found`
 */
export async function describeApi(path: string, served: readonly ServedRoute[]): Promise<Response> {
  if (isGuide(path)) return guidePage(path);
  if (path !== '/openapi.json') return referencePage(path);
  made ??= describe(served);
  return new Response(await made, { headers: { 'content-type': 'application/json' } });
}

async function describe(served: readonly ServedRoute[]): Promise<string> {
  const { openApiDocument } = await import('./document.ts');
  return JSON.stringify(openApiDocument([...served, ...servedBy(MANAGEMENT)]));
}
