// Addresses of a provider: fills a preset's placeholders with settings from the configuration and the environment.
import { TEXTS } from '../canonical/index.ts';
import type { Hosting, ProviderPreset, SettingName } from './providers/index.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';

/** Environment variables and files of the process. */
export interface HostAccess {
  /** Variables by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a credential file named by the environment; throws if it cannot be read. */
  readonly readFile: (path: string) => string;
  /** Reads a file named by the configuration; throws if it cannot be read or is not permitted. */
  readonly readNamed: (path: string) => string;
}

type Given = Pick<ProviderConfig, 'settings'>;
export type PlaceholderValues = Readonly<Record<string, string>>;

/** Setting names in the configuration file, for messages. */
const SETTING_KEYS: Readonly<Record<SettingName, string>> = {
  resource: 'resource',
  apiVersion: 'api_version',
  region: 'region',
  project: 'project',
  location: 'location',
};
const PLACEHOLDER = /\{(\w+)\}/g;
/** Placeholders that are filled per request. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['model', 'operation']);

/** Values for a preset's placeholders. Precedence: configuration, environment, preset. */
export function placeholderValues(
  preset: ProviderPreset,
  given: Given,
  { environment }: HostAccess,
): PlaceholderValues {
  const settings: Partial<Record<SettingName, string>> = {};
  for (const name of settingsOf(preset)) {
    const setting = preset.settings?.[name];
    const variable = setting?.variables.map((key) => environment[key]).find(Boolean);
    const value = given.settings?.[name] ?? variable ?? setting?.fallback;
    if (value !== undefined && value !== '') settings[name] = value.replace(/\/+$/, '');
  }
  return { ...settings, ...preset.derivePlaceholders?.(settings) };
}

/** True if all placeholders of the preset's addresses have values. */
export function hasAddresses(preset: ProviderPreset, values: PlaceholderValues): boolean {
  return Object.values(preset.protocols).every(
    ({ baseUrl, hosting }) =>
      missingIn(baseUrl, values).length === 0 && missingInPaths(hosting, values).length === 0,
  );
}

/** Fills the placeholders of an address. Those without values remain. */
export function fillAddress(template: string, values: PlaceholderValues): string {
  return template.replace(PLACEHOLDER, (whole: string, name: string) => values[name] ?? whole);
}

/** True if an address contains no placeholders. */
export function isAddress(baseUrl: string | undefined): baseUrl is string {
  return baseUrl !== undefined && baseUrl.search(PLACEHOLDER) < 0;
}

/** Fills the placeholders of a host's paths. Those that depend on the request remain. */
export function fillHosting(hosting: Hosting, values: PlaceholderValues): Hosting {
  const { path, streamPath, tasks } = hosting;
  const fill = (template: string): string =>
    template.replace(PLACEHOLDER, (whole: string, name: string) =>
      OF_THE_REQUEST.has(name) ? whole : (values[name] ?? whole),
    );
  return {
    ...hosting,
    path: fill(path),
    streamPath: fill(streamPath),
    tasks:
      tasks &&
      Object.fromEntries(
        Object.entries(tasks).map(([name, one]) => [name, { ...one, path: fill(one.path) }]),
      ),
  };
}

function settingsOf(preset: ProviderPreset): readonly SettingName[] {
  return Object.keys(preset.settings ?? {}) as SettingName[];
}

function missingIn(template: string, values: PlaceholderValues): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)]
    .map(([, name = '']) => name)
    .filter((name) => !OF_THE_REQUEST.has(name) && values[name] === undefined);
}

function missingInPaths(hosting: Hosting | undefined, values: PlaceholderValues): readonly string[] {
  return hosting ? missingIn(hosting.path + hosting.streamPath, values) : [];
}

/** Reports the first missing setting. A derived value is missing if one of its settings is. */
export function refuseMissing(
  preset: ProviderPreset,
  values: PlaceholderValues,
  path: string,
  refuse: Refuse,
): never {
  const name = settingsOf(preset).find((each) => values[each] === undefined);
  const variables = name === undefined ? [] : (preset.settings?.[name]?.variables ?? []);
  return refuse(
    name === undefined ? path : `${path}.${SETTING_KEYS[name]}`,
    TEXTS.missingSetting(variables.join(' or ')),
  );
}
