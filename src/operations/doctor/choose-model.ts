// Which model of a provider to examine when nobody named one: the cheapest of those that it lists itself.
import { isOutOfTheWay, isTextModel, type Catalog, type Endpoint } from '../../catalog/index.ts';
import { listModels, type AnswerAsking } from '../../engine/index.ts';

/** Models that a list is looked through for: aggregators have thousands. */
const MOST_LOOKED_AT = 500;

/**
 * Chooses among models that anybody might be given, first among those that the catalog lists as well: lists of vendors
 * hold models of every age and purpose.
 * @param provider id of one that is on
 * @returns the endpoint of the cheapest model, of the first one where no price is known; null when there is none
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
    if (name === '' || !isTextModel(name) || isOutOfTheWay(name)) continue;
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

/** Any name leads to the place, and is not asked for; the built-in provider has names of its own only. */
function placeOf(provider: string, catalog: Catalog): Endpoint | undefined {
  const model =
    catalog.find(`${provider}/any`) ?? catalog.list().find(({ id }) => id.startsWith(`${provider}/`));
  return model?.endpoints.find((one) => one.provider === provider);
}

/** USD per million tokens; what is unknown is dear. */
function outputPrice({ price }: Endpoint): number {
  const rate = price?.output;
  if (rate === undefined) return Infinity;
  return typeof rate === 'number' ? rate : rate.base;
}
