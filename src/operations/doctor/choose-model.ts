// Chooses the model to examine if none is given: the cheapest that the provider lists.
import { isOnlyByName, isTextModel, type Catalog, type Endpoint } from '../../catalog/index.ts';
import { listModels, type AnswerAsking } from '../../engine/index.ts';

/** Maximum number of listed models to consider. Aggregators have thousands. */
const MOST_LOOKED_AT = 500;

/**
 * Chooses among general-purpose text models. Those that the catalog also lists come first, because vendors' lists
 * contain models of every age and purpose.
 * @param provider id of an enabled provider
 * @returns the endpoint of the cheapest model, or of the first one if no price is known; null: none
 */
export async function chooseModel(
  provider: string,
  catalog: Catalog,
  asking: AnswerAsking,
): Promise<Endpoint | null> {
  const listed = await listModels(placeOf(provider, catalog), asking);
  if (!listed) return null;
  let best: { readonly endpoint: Endpoint; readonly isKnown: boolean; readonly price: number } | null = null;
  for (const name of [...listed.keys()].slice(0, MOST_LOOKED_AT)) {
    if (name === '' || !isTextModel(name) || isOnlyByName(name)) continue;
    const id = `${provider}/${name}`;
    const endpoint = catalog.find(id)?.endpoints.find((one) => one.provider === provider);
    if (!endpoint) continue;
    const isKnown = catalog.isListed(id);
    const price = outputPrice(endpoint);
    const isBetter = best === null || (isKnown === best.isKnown ? price < best.price : isKnown);
    if (isBetter) best = { endpoint, isKnown, price };
  }
  return best?.endpoint ?? null;
}

/**
 * An endpoint of the provider. Any model name works, because only its address is used; the built-in provider has only
 * its own names.
 */
function placeOf(provider: string, catalog: Catalog): Endpoint | undefined {
  const model =
    catalog.find(`${provider}/any`) ?? catalog.list().find(({ id }) => id.startsWith(`${provider}/`));
  return model?.endpoints.find((one) => one.provider === provider);
}

/** USD per million tokens; unknown prices sort last. */
function outputPrice({ price }: Endpoint): number {
  const rate = price?.output;
  if (rate === undefined) return Infinity;
  return typeof rate === 'number' ? rate : rate.base;
}
