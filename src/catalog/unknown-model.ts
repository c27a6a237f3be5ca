// Error text for an unknown model, with similar models.
import type { Catalog } from './endpoint.ts';

/**
 * One or two sentences for an id that `catalog.find` does not know.
 * @param id as the client wrote it; only its beginning is quoted
 * @param mayUse true for models that the caller may use; others are not mentioned
 */
export function unknownModel(id: string, catalog: Catalog, mayUse: MayUse = () => true): string {
  const quoted = JSON.stringify(id.slice(0, 200));
  const provider = id.slice(0, Math.max(id.indexOf('/'), 0));
  const remedy = catalog.switchesOn(provider);
  if (remedy !== null)
    return `The model ${quoted} is not available because the provider ${provider} is disabled; ${remedy}.`;
  return `The model ${quoted} does not exist. ${hint(id, catalog, mayUse)}`;
}

/** Up to three similar ids of models that the caller may use. */
export function similarModels(id: string, catalog: Catalog, mayUse: MayUse): readonly string[] {
  return catalog.suggest(id).filter((name) => isOpen(name, catalog, mayUse));
}

type MayUse = (modelId: string) => boolean;

function isOpen(name: string, catalog: Catalog, mayUse: MayUse): boolean {
  const model = catalog.find(name);
  return model !== null && mayUse(model.id);
}

function hint(id: string, catalog: Catalog, mayUse: MayUse): string {
  const colon = id.lastIndexOf(':');
  const stem = id.slice(0, Math.max(colon, 0));
  const named = id.slice(colon + 1);
  if (isOpen(stem, catalog, mayUse)) {
    const remedy = catalog.switchesOn(named);
    return `${stem} does, but the provider ${JSON.stringify(named)} is not enabled${remedy === null ? '.' : `; ${remedy}.`}`;
  }
  const similar = similarModels(id, catalog, mayUse);
  return similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : 'GET /v1/models lists the models.';
}
