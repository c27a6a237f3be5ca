// Explains how to enable known but disabled providers, for clients that request their models.
import type { ProviderPreset } from './providers/index.ts';
import type { CatalogConfig } from './catalog-config.ts';

/**
 * Instructions, as the end of a sentence, by the id of each known but disabled provider.
 * @param isOn true for the id of an enabled provider
 */
export function providersOff(
  presets: readonly ProviderPreset[],
  config: CatalogConfig['providers'],
  isOn: (id: string) => boolean,
): ReadonlyMap<string, string> {
  const off = new Map<string, string>();
  for (const preset of presets) if (!isOn(preset.id)) off.set(preset.id, remedy(preset));
  for (const [id, given] of Object.entries(config))
    if (given === false) off.set(id, `the configuration says \`providers.${id}: false\``);
  return off;
}

function remedy({ id, keyVariable, namedOnly, settings }: ProviderPreset): string {
  const entry = `add it to \`providers\` in the configuration (\`${id}: {…}\`)`;
  if (keyVariable === null || namedOnly === true) return entry;
  const places = Object.values(settings ?? {})
    .filter(({ fallback }) => fallback === undefined)
    .flatMap(({ variables }) => variables.slice(0, 1));
  return `set ${[keyVariable, ...places].join(' and ')}, or ${entry}`;
}
