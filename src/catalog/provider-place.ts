// Where a provider is and how its requests are signed: settings of the configuration and the environment put into the
// addresses of a preset. Knows nothing of models.
import { asObject, asString, parseJson } from '../canonical/index.ts';
import type { CredentialKind, Hosting, ProviderPreset, SettingName } from '../providers/index.ts';
import { Secret } from '../telemetry/secret.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';
import type { EndpointCredential } from './endpoint.ts';

/** What the process knows besides the configuration. */
export interface Surroundings {
  /** Variables by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads the file of a service account; throws when it cannot. */
  readonly readFile: (path: string) => string;
}

type Given = Partial<Pick<ProviderConfig, 'settings' | 'awsKeys' | 'serviceAccount'>>;
type Words = Readonly<Record<string, string>>;

/** Settings as the file spells them, for messages. */
const SPELT: Readonly<Record<SettingName, string>> = {
  resource: 'resource',
  apiVersion: 'api_version',
  region: 'region',
  project: 'project',
  location: 'location',
};
const WORD = /\{(\w+)\}/g;
const TOKEN_URL = 'https://oauth2.googleapis.com/token';

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

/** The same for the paths of a host; the model's name stays open. */
export function fillHosting(hosting: Hosting, words: Words): Hosting {
  const fill = (template: string): string =>
    template.replace(WORD, (whole: string, name: string) =>
      name === 'model' ? whole : (words[name] ?? whole),
    );
  return { ...hosting, path: fill(hosting.path), streamPath: fill(hosting.streamPath) };
}

/** What signs requests in the place of a key. Refuses where something of it is missing. */
export function credentialOf(
  preset: ProviderPreset,
  kind: CredentialKind,
  given: Given,
  words: Words,
  path: string,
  surroundings: Surroundings,
  refuse: Refuse,
): EndpointCredential {
  return kind === 'aws-sigv4'
    ? awsKeys(preset, given, words, path, surroundings, refuse)
    : serviceAccount(given, path, surroundings, refuse);
}

function awsKeys(
  preset: ProviderPreset,
  given: Given,
  words: Words,
  path: string,
  { environment }: Surroundings,
  refuse: Refuse,
): EndpointCredential {
  const own = given.awsKeys;
  // Keys of two places do not go together: a token belongs to the key it came with.
  const fromFile = own?.accessKeyId !== undefined || own?.secretAccessKey !== undefined;
  const accessKeyId = fromFile ? own.accessKeyId : environment['AWS_ACCESS_KEY_ID'];
  const secret = fromFile ? own.secretAccessKey?.reveal() : environment['AWS_SECRET_ACCESS_KEY'];
  const token = fromFile ? own.sessionToken?.reveal() : environment['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secret) {
    const variable = preset.keyVariable === null ? '' : ` or the environment variable ${preset.keyVariable}`;
    const missing = accessKeyId
      ? 'secret_access_key is missing beside access_key_id'
      : `needs credentials: set api_key${variable}, or access_key_id and secret_access_key, ` +
        'or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
    return refuse(path, missing);
  }
  const region = words['region'];
  if (region === undefined) return refuseMissing(preset, words, path, refuse);
  return Object.freeze({
    kind: 'aws-sigv4',
    accessKeyId,
    secretAccessKey: new Secret(secret),
    sessionToken: token ? new Secret(token) : null,
    region,
    service: 'bedrock',
  });
}

function serviceAccount(
  given: Given,
  path: string,
  { environment, readFile }: Surroundings,
  refuse: Refuse,
): EndpointCredential {
  const where = `${path}.credentials`;
  const named = given.serviceAccount?.reveal() ?? environment['GOOGLE_APPLICATION_CREDENTIALS'];
  if (!named) {
    return refuse(
      where,
      'missing: set it to the key file of a service account, here or in GOOGLE_APPLICATION_CREDENTIALS, or set api_key to an access token',
    );
  }
  let text = named;
  if (!named.trimStart().startsWith('{')) {
    try {
      text = readFile(named);
    } catch (error) {
      return refuse(where, `cannot read ${named}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const file = asObject(parseJson(text));
  const email = asString(file['client_email']);
  const privateKey = asString(file['private_key']);
  if (file['type'] !== 'service_account' || email === undefined || privateKey === undefined)
    return refuse(where, 'is not the key file of a service account (type, client_email and private_key)');
  return Object.freeze({
    kind: 'google-service-account',
    email,
    privateKey: new Secret(privateKey),
    privateKeyId: asString(file['private_key_id']) ?? null,
    tokenUrl: asString(file['token_uri']) ?? TOKEN_URL,
  });
}

function settingsOf(preset: ProviderPreset): readonly SettingName[] {
  return Object.keys(preset.settings ?? {}) as SettingName[];
}

function missingIn(template: string, words: Words): readonly string[] {
  return [...template.matchAll(WORD)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'model' && words[name] === undefined);
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
    `missing: set it here or in the environment variable ${variables.join(' or ')}`,
  );
}
