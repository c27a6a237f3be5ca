// What is said to somebody who asks for a model that is not there: never only that, but what is most likely meant.
import type { Catalog } from './endpoint.ts';

/**
 * One or two sentences for an id that `catalog.find` does not know.
 * @param id as the client wrote it; only its beginning is repeated
 */
export function unknownModel(id: string, catalog: Catalog): string {
  const quoted = JSON.stringify(id.slice(0, 200));
  const provider = id.slice(0, Math.max(id.indexOf('/'), 0));
  const remedy = catalog.switchesOn(provider);
  if (remedy !== null)
    return `The model ${quoted} is not available: the provider ${provider} is off; ${remedy}.`;
  return `The model ${quoted} does not exist. ${hint(id, catalog)}`;
}

function hint(id: string, catalog: Catalog): string {
  const colon = id.lastIndexOf(':');
  const stem = id.slice(0, Math.max(colon, 0));
  const named = id.slice(colon + 1);
  if (catalog.find(stem)) {
    const remedy = catalog.switchesOn(named);
    return `${stem} does, but no provider ${JSON.stringify(named)} is on${remedy === null ? '.' : `; ${remedy}.`}`;
  }
  const similar = catalog.suggest(id);
  return similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : 'GET /v1/models lists the models.';
}
