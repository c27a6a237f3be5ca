// Validates aliases: each must lead to a model, without cycles.
import { TEXTS } from '../canonical/index.ts';
import type { Attempt, CatalogConfig, Refuse } from './catalog-config.ts';
import type { Catalog } from './endpoint.ts';

export interface AliasTargets {
  readonly catalog: Catalog;
  /** Ids of configured models. */
  readonly configured: ReadonlySet<string>;
  /** Ids of rejected providers, whose models are unknown. */
  readonly refused: ReadonlySet<string>;
}

/** Refuses aliases without a target. */
export function checkAliases(
  aliases: CatalogConfig['aliases'],
  targets: AliasTargets,
  refuse: Refuse,
  attempt: Attempt,
): void {
  for (const alias of Object.keys(aliases)) attempt(() => checkAlias(alias, aliases, targets, refuse));
}

function checkAlias(
  alias: string,
  aliases: CatalogConfig['aliases'],
  { catalog, configured, refused }: AliasTargets,
  refuse: Refuse,
): void {
  const path = `aliases.${alias}`;
  if (configured.has(alias)) refuse(path, `"${alias}" is also the id of a configured model`);
  const seen = new Set<string>();
  let target = alias;
  while (Object.hasOwn(aliases, target)) {
    if (seen.has(target)) refuse(path, `is circular: ${[...seen, target].join(' → ')}`);
    seen.add(target);
    target = aliases[target] ?? '';
  }
  if (refused.has(target.split('/', 1)[0] ?? '') || catalog.find(target)) return;
  const near = catalog.suggest(target);
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  refuse(path, TEXTS.noSuchModel(target, hint));
}
