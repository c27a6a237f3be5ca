// Checks the names in the operator's routing defaults against the catalog, because a misspelt name would silently
// restrict nothing, or everything.
import { nearest } from '../../catalog/index.ts';
import type { Catalog } from '../../catalog/index.ts';
import { type NameList, type RoutingWishes, TEXTS } from '../../canonical/index.ts';
import type { Config } from './config.ts';

export interface KnownNames {
  readonly catalog: Catalog;
  /** Providers that are or could be enabled; one without a key today is not misspelt. */
  readonly providers: readonly string[];
  /** Refused providers, whose models are unknown. Absent: none. */
  readonly refused?: ReadonlySet<string> | undefined;
}

/** Called with an invalid name and its path. If it throws, checking stops. */
export type NoteName = (path: string, message: string) => void;

/**
 * Checks `routing.default`, the keys' own defaults, and `routing.task_types`.
 * @param note called for each name that is neither a provider nor, if allowed, a model
 */
export function checkRoutingNames(config: Config, known: KnownNames, note: NoteName): void {
  checkWishes(config.routing.defaults, known, note);
  for (const key of config.keys) if (key.routing) checkWishes(key.routing, known, note);
  for (const [type, ids] of Object.entries(config.routing.taskTypes)) {
    ids.forEach((id, index) => {
      if (!isRefused(id, known) && !known.catalog.find(id))
        note(`routing.task_types.${type}[${index}]`, TEXTS.noSuchModel(id, hint(known.catalog.suggest(id))));
    });
  }
}

/** Checks the names of one level. */
export function checkWishes(wishes: RoutingWishes, known: KnownNames, note: NoteName): void {
  const { catalog } = known;
  const slugs = new Set(known.providers);
  for (const model of catalog.list())
    for (const endpoint of model.endpoints) slugs.add(endpoint.provider).add(endpoint.slug);

  const check = (list: NameList | undefined): void =>
    list?.names.forEach((name) => {
      if (!slugs.has(name) && !isRefused(name, known))
        note(list.path, `"${name}" is not a provider or an endpoint (\`provider/name\`)${near(name)}`);
    });
  const near = (name: string): string => hint(nearest(name, [...slugs], 1));
  check(wishes.providers);
  check(wishes.prefer);
  check(wishes.only);
  check(wishes.ignore);
  for (const list of [wishes.providers, wishes.only]) {
    // Misspelt names have been reported already.
    if (list?.names.some((name) => !slugs.has(name))) continue;
    if (list && !list.names.some((name) => isRefused(name, known) || catalog.hasProvider(providerIn(name))))
      note(list.path, 'none of these providers is enabled, so every request would be refused');
  }
  const { fallback } = wishes;
  if (typeof fallback !== 'object') return;
  for (const name of fallback.names) {
    if (slugs.has(name) || isRefused(name, known) || catalog.find(name)) continue;
    const similar = [...nearest(name, [...slugs], 1), ...catalog.suggest(name)].slice(0, 3);
    note(fallback.path, `"${name}" is not a provider, an endpoint or a model${hint(similar)}`);
  }
}

/** `provider` of `provider/name`. */
function providerIn(name: string): string {
  return name.split('/', 1)[0] ?? '';
}

function isRefused(name: string, { refused }: KnownNames): boolean {
  return refused?.has(providerIn(name)) === true;
}

function hint(similar: readonly string[]): string {
  return similar.length === 0 ? '' : `; did you mean ${similar.map((name) => `"${name}"`).join(' or ')}?`;
}
