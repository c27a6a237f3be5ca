// Checks the names in the operator's routing defaults against the catalog: a misspelt one would restrict nothing, or
// everything, without a word. Knows nothing of what the wishes mean for a plan.
import { nearest } from '../catalog/index.ts';
import type { Catalog, Refuse } from '../catalog/index.ts';
import type { NameList, RoutingWishes } from '../canonical/index.ts';
import type { Config } from './config.ts';

export interface KnownNames {
  readonly catalog: Catalog;
  /** Providers that are on, or could be: the name of one that has no key today is not misspelt. */
  readonly providers: readonly string[];
}

/**
 * Checks `routing.default`, the keys' own defaults, and `routing.task_types`.
 * @param refuse told the path of the first name that is neither a provider nor, where one may stand, a model
 */
export function checkRoutingNames(config: Config, known: KnownNames, refuse: Refuse): void {
  checkWishes(config.routing.defaults, known, refuse);
  for (const key of config.keys) if (key.routing) checkWishes(key.routing, known, refuse);
  for (const [type, ids] of Object.entries(config.routing.taskTypes)) {
    ids.forEach((id, index) => {
      if (!known.catalog.find(id))
        refuse(
          `routing.task_types.${type}[${index}]`,
          `"${id}" is no model of a provider that is on${hint(known.catalog.suggest(id))}`,
        );
    });
  }
}

/** Checks the names of one level. */
export function checkWishes(wishes: RoutingWishes, known: KnownNames, refuse: Refuse): void {
  const { catalog } = known;
  const slugs = new Set(known.providers);
  for (const model of catalog.list())
    for (const endpoint of model.endpoints) slugs.add(endpoint.provider).add(endpoint.slug);

  const check = (list: NameList | undefined): void =>
    list?.names.forEach((name) => {
      if (!slugs.has(name))
        refuse(
          list.path,
          `"${name}" is neither a provider nor \`provider/name\` of an endpoint${near(name)}`,
        );
    });
  const near = (name: string): string => hint(nearest(name, [...slugs], 1));
  check(wishes.providers);
  check(wishes.prefer);
  check(wishes.only);
  check(wishes.ignore);
  for (const list of [wishes.providers, wishes.only]) {
    if (list && !list.names.some((name) => catalog.hasProvider(name.split('/', 1)[0] ?? '')))
      refuse(list.path, 'none of these providers is on, so every request would be refused');
  }
  const { fallback } = wishes;
  if (typeof fallback !== 'object') return;
  for (const name of fallback.names) {
    if (slugs.has(name) || catalog.find(name)) continue;
    const similar = [...nearest(name, [...slugs], 1), ...catalog.suggest(name)].slice(0, 3);
    refuse(fallback.path, `"${name}" is neither a provider, nor an endpoint, nor a model${hint(similar)}`);
  }
}

function hint(similar: readonly string[]): string {
  return similar.length === 0 ? '' : `; did you mean ${similar.map((name) => `"${name}"`).join(' or ')}?`;
}
