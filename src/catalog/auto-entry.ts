// The entry of model lists that stands for no model: asked for by its name, the gateway chooses. Only names and the
// shape of the entry; how it chooses is decided in `routing/`.
import type { Catalog, Model } from './endpoint.ts';

const AUTO_ID = 'dragoman/auto';

/** Ids by which a client leaves the choice of the model to the gateway. */
export const AUTO_MODELS: ReadonlySet<string> = new Set([AUTO_ID, 'auto', 'zenmux/auto']);

/** True when an id leaves the choice to the gateway: unless the operator has a model, an alias or a provider of that name. */
export function isAuto(id: string, catalog: Catalog): boolean {
  if (!AUTO_MODELS.has(id) || catalog.isListed(id)) return false;
  const slash = id.indexOf('/');
  return slash < 0 || !catalog.hasProvider(id.slice(0, slash));
}

/**
 * The entry for lists: it can do what one of the models can, and has no price, because each has its own.
 * @param models those that it may choose among; null is returned when there is none
 */
export function autoEntry(models: readonly Model[]): Model | null {
  const candidates = autoCandidates(models);
  if (candidates.length === 0) return null;
  return {
    id: AUTO_ID,
    displayName: 'Auto',
    created: Math.max(...candidates.map((model) => model.created)),
    ownedBy: 'dragoman',
    inputModalities: [...new Set(candidates.flatMap((model) => model.inputModalities))],
    outputModalities: ['text'],
    reasoningStyle: candidates.some((model) => model.reasoningStyle !== 'none') ? 'both' : 'none',
    contextLength: largest(candidates.map((model) => model.contextLength)),
    maxOutputTokens: largest(candidates.map((model) => model.maxOutputTokens)),
    quality: null,
    builtIn: false,
    endpoints: [],
  };
}

/**
 * The models that an open choice is made among: those that write text; simulated ones only where there are no others.
 */
export function autoCandidates(models: readonly Model[]): readonly Model[] {
  const writers = models.filter((model) => model.outputModalities.includes('text'));
  const real = writers.filter((model) => !model.builtIn);
  return real.length > 0 ? real : writers;
}

function largest(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((most, number) => (number !== null && number > (most ?? 0) ? number : most), null);
}
