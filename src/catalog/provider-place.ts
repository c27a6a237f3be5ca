// Addresses of a provider: settings of the configuration and the environment in the places of a preset. Knows nothing
// of models.
import { TEXTS } from '../canonical/index.ts';
import type { Hosting, ProviderPreset, SettingName } from './providers/index.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';

/** Surroundings of the process: variables and files. */
export interface Surroundings {
  /** Variables by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file of credentials that the environment names; throws when it cannot. */
  readonly readFile: (path: string) => string;
  /** Reads one that the configuration names; throws when it cannot, or may not. */
  readonly readNamed: (path: string) => string;
}

type Given = Pick<ProviderConfig, 'settings'>;
export type Words = Readonly<Record<string, string>>;

/** Settings as the file spells them, for messages. */
const SPELT: Readonly<Record<SettingName, string>> = {
  resource: 'resource',
  apiVersion: 'api_version',
  region: 'region',
  project: 'project',
  location: 'location',
};
const WORD = /\{(\w+)\}/g;
/** Words of paths that no setting gives. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(['model', 'operation']);

/** The words of a preset's addresses: the configuration beats the environment, which beats the preset. */
export function placeOf(preset: ProviderPreset, given: Given, { environment }: Surroundings): Words {
  const settings: Partial<Record<SettingName, string>> = {};
  for (const name of settingsOf(preset)) {
    const setting = preset.settings?.[name];
    const variable = setting?.variables.map((key) => environment[key]).find(Boolean);
    const value = given.settings?.[name] ?? variable ?? setting?.fallback;
    if (value !== undefined && value !== '') settings[name] = value.replace(/\/+$/, '');
  }
  return { ...settings, ...preset.place?.(settings) };
}

/** True when nothing is missing in any address of the preset. */
export function isPlaced(preset: ProviderPreset, words: Words): boolean {
  return Object.values(preset.protocols).every(
    ({ baseUrl, hosting }) =>
      missingIn(baseUrl, words).length === 0 && missingInPaths(hosting, words).length === 0,
  );
}

/** A preset's address with its words in place; those that nobody gave stay open. */
export function fillAddress(template: string, words: Words): string {
  return template.replace(WORD, (whole: string, name: string) => words[name] ?? whole);
}

/** True for an address in which no word is open. */
export function isAddress(baseUrl: string | undefined): baseUrl is string {
  return baseUrl !== undefined && baseUrl.search(WORD) < 0;
}

/** The same for the paths of a host; what depends on the request stays open. */
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

/** Names the first setting that nobody gave: a word that follows from settings is missing when one of them is. */
export function refuseMissing(preset: ProviderPreset, words: Words, path: string, refuse: Refuse): never {
  const name = settingsOf(preset).find((each) => words[each] === undefined);
  const variables = name === undefined ? [] : (preset.settings?.[name]?.variables ?? []);
  return refuse(
    name === undefined ? path : `${path}.${SPELT[name]}`,
    TEXTS.missingSetting(variables.join(' or ')),
  );
}
