// Reads the id of a model as a client wrote it, with the provider that it may name behind a colon. Knows nothing of
// choices among models.
import { GatewayError, problemOfModelName } from '../../canonical/index.ts';
import type { Catalog, Model } from '../../catalog/index.ts';

export interface ResolvedModel {
  readonly model: Model;
  /** Provider or endpoint slug that the id names; null when it names none. */
  readonly pinned: string | null;
}

/** Longer ids are nobody's: no work is done on them. */
const LONGEST_ID = 400;

/**
 * The model of an id: `model`, or `model:provider` / `model:provider/endpoint`. A listed id or alias wins over the
 * reading with a suffix, and the suffix must name a provider that is on, because names of models may hold colons
 * themselves (`qwen3:0.6b`, `…:free`). Null when there is no such model.
 * @param param where it stands, for the error
 * @throws GatewayError `invalid_request` for characters that nobody sees, unless the id is listed with them
 */
export function resolveModelId(id: string, catalog: Catalog, param = 'model'): ResolvedModel | null {
  const problem = catalog.isListed(id) ? null : problemOfModelName(id);
  if (problem !== null) throw new GatewayError('invalid_request', `${param}: ${problem}`, { param });
  if (id.length <= LONGEST_ID && !catalog.isListed(id)) {
    // From the left: what follows the first provider is part of its endpoint's name.
    for (let colon = id.indexOf(':', 1); colon > 0; colon = id.indexOf(':', colon + 1)) {
      const slug = id.slice(colon + 1);
      const slash = slug.indexOf('/');
      if (!catalog.hasProvider(slash < 0 ? slug : slug.slice(0, slash))) continue;
      const model = catalog.find(id.slice(0, colon));
      if (model) return { model, pinned: slug };
    }
  }
  const model = catalog.find(id);
  return model && { model, pinned: null };
}
