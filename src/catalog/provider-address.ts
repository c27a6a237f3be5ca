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
export type Words = Readonly<Record<string, string>>;

/** Setting names in the configuration file, for messages. */
const SETTING_KEYS: Readonly<Record<SettingName, string>> = {
  resource: 'resource',
  apiVersion: 'api_version',
  region: 'region',
  project: 'project',
  location: 'location',
};
const WORD = /\{(\w+)\}/g;
/** Placeholders that are filled per request. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['model', 'operation']);

/** Values for a preset's placeholders. Precedence: configuration, environment, preset. */
export function placeOf(preset: ProviderPreset, given: Given, { environment }: HostAccess): Words {
  const settings: Partial<Record<SettingName, string>> = {};
  for (const name of settingsOf(preset)) {
    const setting = preset.settings?.[name];
    const variable = setting?.variables.map((key) => environment[key]).find(Boolean);
    const value = given.settings?.[name] ?? variable ?? setting?.fallback;
    if (value !== undefined && value !== '') settings[name] = value.replace(/\/+$/, '');
  }
  return { ...settings, ...preset.place?.(settings) };
}

/** True if all placeholders of the preset's addresses have values. */
export function isPlaced(preset: ProviderPreset, words: Words): boolean {
  return Object.values(preset.protocols).every(
    ({ baseUrl, hosting }) =>
      missingIn(baseUrl, words).length === 0 && missingInPaths(hosting, words).length === 0,
  );
}

/** Fills the placeholders of an address. Those without values remain. */
export function fillAddress(template: string, words: Words): string {
  return template.replace(WORD, (whole: string, name: string) => words[name] ?? whole);
}

/** True if an address contains no placeholders. */
export function isAddress(baseUrl: string | undefined): baseUrl is string {
  return baseUrl !== undefined && baseUrl.search(WORD) < 0;
}

/** Fills the placeholders of a host's paths. Those that depend on the request remain. */
export function fillHosting(hosting: Hosting, words: Words): Hosting {
  const { path, streamPath, tasks } = hosting;
  const fill = (template: string): string =>
    template.replace(WORD, (whole: string, name: string) =>
      OF_THE_REQUEST.has(name) ? whole : (words[name] ?? whole),
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

function missingIn(template: string, words: Words): readonly string[] {
  return [...template.matchAll(WORD)]
    .map(([, name = '']) => name)
    .filter((name) => !OF_THE_REQUEST.has(name) && words[name] === undefined);
}

function missingInPaths(hosting: Hosting | undefined, words: Words): readonly string[] {
  return hosting ? missingIn(hosting.path + hosting.streamPath, words) : [];
}

/** Reports the first missing setting. A derived value is missing if one of its settings is. */
export function refuseMissing(preset: ProviderPreset, words: Words, path: string, refuse: Refuse): never {
  const name = settingsOf(preset).find((each) => words[each] === undefined);
  const variables = name === undefined ? [] : (preset.settings?.[name]?.variables ?? []);
  return refuse(
    name === undefined ? path : `${path}.${SETTING_KEYS[name]}`,
    TEXTS.missingSetting(variables.join(' or ')),
  );
}
