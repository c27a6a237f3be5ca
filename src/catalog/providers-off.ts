// How to enable a provider that is known and off, in words for a client that asks for its models.
import type { ProviderPreset } from './providers/index.ts';
import type { CatalogConfig } from './catalog-config.ts';

/**
 * By the id of each provider that is known and off: what to do, as the end of a sentence.
 * @param isOn true for the id of a provider that is on
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
  const entry = `name it under \`providers\` in the configuration (\`${id}: {…}\`)`;
  if (keyVariable === null || namedOnly === true) return entry;
  const places = Object.values(settings ?? {})
    .filter(({ fallback }) => fallback === undefined)
    .flatMap(({ variables }) => variables.slice(0, 1));
  return `set ${[keyVariable, ...places].join(' and ')}, or ${entry}`;
}
