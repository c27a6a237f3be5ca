// Which model of a provider to examine when nobody named one: the cheapest of those that it lists itself.
import type { Catalog, Endpoint } from '../catalog/index.ts';
import type { AnswerAsking } from '../engine/index.ts';
import { listModels } from './probes/place.ts';

/** Models that a list is looked through for: aggregators have thousands. */
const MOST_LOOKED_AT = 500;

/**
 * Chooses.
 * @param provider id of one that is on
 * @returns the endpoint of the cheapest model, of the first one where no price is known; null when there is no list
 */
export async function chooseModel(
  provider: string,
  catalog: Catalog,
  asking: AnswerAsking,
): Promise<Endpoint | null> {
  // Any name leads to the place; it is not asked for.
  const place = catalog.find(`${provider}/any`)?.endpoints[0];
  const listed = place && (await listModels(place, asking));
  if (!listed) return null;
  let best: { readonly endpoint: Endpoint; readonly price: number } | null = null;
  for (const name of [...listed.keys()].slice(0, MOST_LOOKED_AT)) {
    const model = name === '' ? null : catalog.find(`${provider}/${name}`);
    const endpoint = model?.endpoints.find((one) => one.provider === provider);
    if (!model || !endpoint || !model.outputModalities.includes('text')) continue;
    const price = outputPrice(endpoint);
    if (best === null || price < best.price) best = { endpoint, price };
  }
  return best?.endpoint ?? null;
}

/** USD per million tokens; what is unknown is dear. */
function outputPrice({ price }: Endpoint): number {
  const rate = price?.output;
  if (rate === undefined) return Infinity;
  return typeof rate === 'number' ? rate : rate.base;
}
