// The description of the whole API, and the page that shows it. The description is made when somebody first asks for it.
import { servedBy, type ServedRoute } from '../../server/routes/served-routes.ts';
import { guidePage, isGuide } from '../guide/index.ts';
import { MANAGEMENT } from '../management/index.ts';
import { referencePage } from './reference-page.ts';

let made: Promise<string> | undefined;

/**
 * Answers `/openapi.json`, `/docs`, and what is below that.
 * @param served what the server answers besides the management API; the same each time
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
