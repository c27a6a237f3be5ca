// Which providers are on, and with what: presets, overlaid with what the operator configured and with keys from
// the vendors' own environment variables. Knows nothing of models.
import { PROTOCOL_NAMES } from '../canonical/index.ts';
import type { ProtocolName } from '../canonical/index.ts';
import type { AuthScheme, ProviderPreset, ProviderProtocol } from '../providers/index.ts';
import { Secret } from '../telemetry/secret.ts';
import type { CatalogConfig, ProtocolConfig, ProviderConfig, Refuse } from './catalog-config.ts';
import { nearest } from './model-index.ts';

export interface ActiveProvider {
  readonly id: string;
  readonly name: string;
  readonly protocols: ReadonlyMap<ProtocolName, ActiveProtocol>;
  readonly defaultProtocol: ProtocolName;
  readonly headers: Readonly<Record<string, string>>;
  /** The vendor's id in the price library; null when its prices are nobody's list prices. */
  readonly priceId: string | null;
  readonly notServed: RegExp | undefined;
}

export interface ActiveProtocol extends Omit<ProviderProtocol, 'auth'> {
  /** What the operator said about quirks: stronger than what is known of a model. */
  readonly configuredQuirks: NonNullable<ProtocolConfig['quirks']>;
  readonly auth: (AuthScheme & { readonly key: Secret }) | null;
}

/** An operator writes this where a key is expected and the server wants none. */
const NO_KEY = 'none';

/**
 * Every provider that is on.
 * @param presets those known
 * @param builtIn presets of servers that run in this process: on unless switched off
 * @param environment variables by name
 */
export function activeProviders(
  config: CatalogConfig['providers'],
  presets: readonly ProviderPreset[],
  builtIn: readonly ProviderPreset[],
  environment: Readonly<Record<string, string | undefined>>,
  refuse: Refuse,
): ReadonlyMap<string, ActiveProvider> {
  const byId = new Map([...presets, ...builtIn].map((preset) => [preset.id, preset]));
  const active = new Map<string, ActiveProvider>();
  for (const preset of builtIn) {
    if (!(preset.id in config)) active.set(preset.id, fromPreset(preset, null));
  }
  for (const preset of presets) {
    if (preset.id in config) continue;
    const key = preset.keyVariable === null ? undefined : environment[preset.keyVariable];
    // A server without a key is on only when the operator names it.
    if (key) active.set(preset.id, fromPreset(preset, new Secret(key)));
  }
  for (const [id, given] of Object.entries(config)) {
    if (given === false) continue;
    const path = `providers.${id}`;
    if (given.preset !== undefined && !byId.has(given.preset)) {
      refuse(
        `${path}.preset`,
        `there is no preset "${given.preset}"; presets are ${[...byId.keys()].join(', ')}`,
      );
    }
    const preset = byId.get(given.preset ?? id);
    const provider = preset
      ? overlay(id, preset, given, environment, refuse)
      : fromNothing(id, given, nearest(id, [...byId.keys()], 1)[0], refuse);
    if (provider) active.set(id, provider);
  }
  return active;
}

function fromPreset(preset: ProviderPreset, key: Secret | null): ActiveProvider {
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const name of PROTOCOL_NAMES) {
    const entry = preset.protocols[name];
    if (!entry) continue;
    const auth = key && { ...(entry.auth ?? preset.auth), key };
    protocols.set(name, { ...entry, configuredQuirks: {}, auth });
  }
  return {
    id: preset.id,
    name: preset.name,
    protocols,
    defaultProtocol: preset.defaultProtocol,
    headers: preset.headers,
    priceId: preset.priceId ?? preset.id,
    notServed: preset.notServed,
  };
}

/** Null when the operator left its key empty on purpose (`${KEY:-}`). */
function overlay(
  id: string,
  preset: ProviderPreset,
  given: ProviderConfig,
  environment: Readonly<Record<string, string | undefined>>,
  refuse: Refuse,
): ActiveProvider | null {
  if (given.apiKey === null) return null;
  const path = `providers.${id}`;
  const fromVariable = preset.keyVariable === null ? undefined : environment[preset.keyVariable];
  const text = given.apiKey?.reveal() ?? fromVariable;
  if (!text && preset.keyVariable !== null) {
    refuse(`${path}.api_key`, `missing: set it here or in the environment variable ${preset.keyVariable}`);
  }
  const key = text && text !== NO_KEY ? new Secret(text) : null;
  const base = fromPreset(preset, key);
  const ownBase = preset.protocols[preset.defaultProtocol]?.baseUrl;
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const name of PROTOCOL_NAMES) {
    const own = base.protocols.get(name);
    const override = given.protocols?.[name];
    let entry = own;
    if (own && given.baseUrl !== undefined) {
      // Another address serves what the vendor serves at that address, and nothing is known of its other ones.
      entry = own.baseUrl === ownBase ? { ...own, baseUrl: trimUrl(given.baseUrl) } : undefined;
    }
    const result = override
      ? configured(name, override, entry ?? own, given, key, `${path}.protocols.${name}`, refuse)
      : entry;
    if (result) protocols.set(name, given.auth && key ? { ...result, auth: { ...given.auth, key } } : result);
  }
  return {
    ...base,
    id,
    protocols,
    defaultProtocol: protocols.has(base.defaultProtocol)
      ? base.defaultProtocol
      : firstOf(protocols, base.defaultProtocol),
    headers: { ...base.headers, ...given.headers },
  };
}

/** Anything that speaks a known protocol. */
function fromNothing(
  id: string,
  given: ProviderConfig,
  near: string | undefined,
  refuse: Refuse,
): ActiveProvider | null {
  const path = `providers.${id}`;
  if (given.apiKey === null) return null;
  const entries = Object.entries(given.protocols ?? {}) as [ProtocolName, ProtocolConfig][];
  if (entries.length === 0) {
    refuse(
      path,
      `is not a preset${near === undefined ? '' : ` (did you mean "${near}"?)`}, so it needs \`protocols\`, ` +
        'e.g. `protocols: { openai-chat: "http://host:8000/v1" }`, or `preset`',
    );
  }
  const text = given.apiKey?.reveal();
  const key = text && text !== NO_KEY ? new Secret(text) : null;
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const [name, entry] of entries) {
    protocols.set(name, configured(name, entry, undefined, given, key, `${path}.protocols.${name}`, refuse));
  }
  return {
    id,
    name: id,
    protocols,
    defaultProtocol: firstOf(protocols, 'openai-chat'),
    headers: { ...given.headers },
    priceId: null,
    notServed: undefined,
  };
}

const DEFAULT_AUTH: Readonly<Record<ProtocolName, AuthScheme>> = {
  'openai-chat': { header: 'authorization', prefix: 'Bearer ' },
  'openai-responses': { header: 'authorization', prefix: 'Bearer ' },
  'anthropic-messages': { header: 'x-api-key', prefix: '' },
  gemini: { header: 'x-goog-api-key', prefix: '' },
};

/** One protocol entry of the configuration over the preset's own, if any. */
function configured(
  name: ProtocolName,
  given: ProtocolConfig,
  own: ActiveProtocol | undefined,
  provider: ProviderConfig,
  key: Secret | null,
  path: string,
  refuse: Refuse,
): ActiveProtocol {
  const baseUrl = given.baseUrl ?? (own ? own.baseUrl : provider.baseUrl);
  if (baseUrl === undefined) return refuse(path, 'needs a base URL');
  const auth = own?.auth ?? (key && { ...(provider.auth ?? DEFAULT_AUTH[name]), key });
  return {
    baseUrl: trimUrl(baseUrl),
    faithful: given.faithful ?? own?.faithful ?? false,
    quirks: own?.quirks ?? {},
    configuredQuirks: given.quirks ?? {},
    reasoningFormat: given.reasoningFormat ?? own?.reasoningFormat ?? null,
    unsupported: given.unsupported ?? own?.unsupported ?? [],
    compacts: own?.compacts,
    auth,
  };
}

function firstOf(
  protocols: ReadonlyMap<ProtocolName, ActiveProtocol>,
  otherwise: ProtocolName,
): ProtocolName {
  return protocols.keys().next().value ?? otherwise;
}

function trimUrl(url: string): string {
  return url.replace(/\/+$/, '');
}
