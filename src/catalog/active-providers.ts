// Resolves the enabled providers: presets, overlaid with the operator's configuration and with keys from the vendors'
// own environment variables.
import { type ProtocolName, type Quirks, TEXTS } from '../canonical/index.ts';
import { mainProtocol, PROTOCOL_NAMES, serverFacts } from '../protocols/index.ts';
import type { AuthScheme, Patience, ProviderPreset, ProviderProtocol } from './providers/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import { type NetworkRoute, DIRECT } from '../upstream/network-route.ts';
import { hasBatches, NO_BATCHES } from './batch-route.ts';
import type { Attempt, CatalogConfig, ProtocolConfig, ProviderConfig, Refuse } from './catalog-config.ts';
import { credentialOf, namesCredential } from './credential-of.ts';
import type { EndpointCredential } from './endpoint.ts';
import { nearest } from './model-index.ts';
import { networkRouteOf } from './provider-network-route.ts';
import {
  fillAddress,
  isAddress,
  refuseMissing,
  fillHosting,
  hasAddresses,
  placeholderValues,
  type HostAccess,
} from './provider-address.ts';

export interface ActiveProvider {
  readonly id: string;
  readonly name: string;
  readonly protocols: ReadonlyMap<ProtocolName, ActiveProtocol>;
  readonly defaultProtocol: ProtocolName;
  readonly protocolOf?: ProviderPreset['protocolOf'];
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the default route. */
  readonly networkRoute?: NetworkRoute | undefined;
  readonly patience?: Patience | undefined;
  /** True: batch lines are sent to the vendor's batch API. */
  readonly batches?: boolean | undefined;
  /** Factor on ordinary prices for batch lines. Absent: 1. */
  readonly batchPriceFactor?: number | undefined;
  /** The vendor's id in the price library; null: no list prices apply. */
  readonly priceId: string | null;
  readonly notServed: RegExp | undefined;
}

export interface ActiveProtocol extends Omit<ProviderProtocol, 'auth'> {
  /** Quirks configured by the operator, which take precedence over a model's documented ones. */
  readonly configuredQuirks: NonNullable<ProtocolConfig['quirks']>;
  /** True: the operator listed the unsupported parameters. */
  readonly hasConfiguredParameters: boolean;
  /** True: the operator configured `faithful`. */
  readonly isFaithfulConfigured: boolean;
  /** True: the address is the vendor's own. */
  readonly isVendorRun: boolean;
  readonly auth: (AuthScheme & { readonly key: Secret }) | null;
  /** Signs requests if `auth` is null. */
  readonly credential?: EndpointCredential | undefined;
}

/** Configured instead of a key if the server needs none. */
const NO_KEY = 'none';

/**
 * Resolves all enabled providers.
 * @param presets known presets
 * @param builtIn presets of servers in this process, which are enabled unless switched off
 * @param hostAccess vendors' variables, and files that they name
 * @returns enabled providers, and ids of rejected ones, whose models are unknown
 */
export function activeProviders(
  config: CatalogConfig['providers'],
  presets: readonly ProviderPreset[],
  builtIn: readonly ProviderPreset[],
  hostAccess: HostAccess,
  refuse: Refuse,
  attempt: Attempt,
): { readonly active: ReadonlyMap<string, ActiveProvider>; readonly refused: ReadonlySet<string> } {
  const refused = new Set<string>();
  const byId = new Map([...presets, ...builtIn].map((preset) => [preset.id, preset]));
  const active = new Map<string, ActiveProvider>();
  for (const preset of builtIn) {
    if (!(preset.id in config))
      active.set(preset.id, {
        ...fromPreset(preset, { key: null, values: {}, path: `providers.${preset.id}`, refuse }),
        networkRoute: DIRECT,
      });
  }
  for (const preset of presets) {
    if (preset.id in config || preset.namedOnly === true) continue;
    const key = preset.keyVariable === null ? undefined : hostAccess.environment[preset.keyVariable];
    // Servers without a key or with an unknown address must be enabled by the configuration.
    if (!key) continue;
    const values = placeholderValues(preset, {}, hostAccess);
    if (hasAddresses(preset, values))
      active.set(
        preset.id,
        fromPreset(preset, { key: new Secret(key), values, path: `providers.${preset.id}`, refuse }),
      );
  }
  for (const [id, given] of Object.entries(config)) {
    if (given === false) continue;
    const path = `providers.${id}`;
    /** Attempts a part of this provider. If it fails, the whole provider is rejected. */
    const part: Attempt = (make) => {
      const made = attempt(() => [make()] as const);
      if (!made) refused.add(id);
      return made?.[0];
    };
    if (given.preset !== undefined && !byId.has(given.preset)) {
      const presetsKnown = [...byId.keys()].join(', ');
      part(() => refuse(`${path}.preset`, `"${given.preset}" is not a preset; presets are ${presetsKnown}`));
      continue;
    }
    const preset = byId.get(given.preset ?? id);
    const provider = part(() =>
      preset
        ? overlay(id, preset, given, hostAccess, refuse, part)
        : fromNothing(id, given, nearest(id, [...byId.keys()], 1)[0], refuse, part),
    );
    // Servers of this process need no route.
    const isOwn = preset !== undefined && builtIn.includes(preset);
    const networkRoute = isOwn ? DIRECT : part(() => networkRouteOf(given, path, hostAccess, refuse));
    if (!provider) continue;
    const addresses = [...provider.protocols.values()].map(({ baseUrl }) => baseUrl);
    if (given.tls && addresses.length > 0 && !addresses.some((address) => address.startsWith('https:')))
      part(() => refuse(`${path}.tls`, 'applies only to https addresses, and this provider has none'));
    if (given.batch === 'vendor' && ![...provider.protocols.keys()].some(hasBatches))
      part(() => refuse(`${path}.batch`, NO_BATCHES));
    if (refused.has(id)) continue;
    const patience = { ...provider.patience, ...given.timeouts };
    active.set(id, {
      ...provider,
      networkRoute,
      batches: given.batch === 'vendor',
      batchPriceFactor: given.batchPriceFactor ?? provider.batchPriceFactor,
      ...(Object.keys(patience).length > 0 && { patience }),
    });
  }
  return { active, refused };
}

/** Values that complete a preset. */
interface Completion {
  readonly key: Secret | null;
  readonly credential?: EndpointCredential | undefined;
  readonly values: Readonly<Record<string, string>>;
  /** Path of the provider in the configuration. */
  readonly path: string;
  /** Replaces the vendor's main address. */
  readonly baseUrl?: string | undefined;
  /** True: the operator configured the address, so that the settings of the vendor's address are not required. */
  readonly hasOtherAddress?: boolean | undefined;
  readonly refuse: Refuse;
}

function fromPreset(preset: ProviderPreset, completion: Completion): ActiveProvider {
  const { key, credential, values, path, refuse } = completion;
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl;
  for (const name of PROTOCOL_NAMES) {
    const entry = preset.protocols[name];
    if (!entry) continue;
    const own = entry.baseUrl === main ? completion.baseUrl : undefined;
    const baseUrl = own ?? fillAddress(entry.baseUrl, values);
    if (!isAddress(baseUrl) && !completion.hasOtherAddress) refuseMissing(preset, values, path, refuse);
    const hosting = entry.hosting && fillHosting(entry.hosting, values);
    const auth = key && { ...(entry.auth ?? preset.auth), key };
    const vendors = fillAddress(entry.baseUrl, values);
    protocols.set(name, {
      ...entry,
      baseUrl: trimUrl(baseUrl),
      hosting,
      configuredQuirks: {},
      hasConfiguredParameters: false,
      isFaithfulConfigured: false,
      isVendorRun: preset.selfHosted !== true && isSameHost(baseUrl, vendors),
      auth,
      credential,
    });
  }
  return {
    id: preset.id,
    name: preset.name,
    protocols,
    defaultProtocol: preset.defaultProtocol,
    protocolOf: preset.protocolOf,
    headers: preset.headers,
    patience: preset.patience,
    batchPriceFactor: preset.batchPriceFactor,
    priceId: preset.priceId ?? preset.id,
    notServed: preset.notServed,
  };
}

/** Null if the key was configured as empty on purpose (`${KEY:-}`). */
function overlay(
  id: string,
  preset: ProviderPreset,
  given: ProviderConfig,
  hostAccess: HostAccess,
  refuse: Refuse,
  part: Attempt,
): ActiveProvider | null {
  if (given.apiKey === null) return null;
  const path = `providers.${id}`;
  const fromVariable = preset.keyVariable === null ? undefined : hostAccess.environment[preset.keyVariable];
  const text = given.apiKey?.reveal() ?? (namesCredential(given) ? undefined : fromVariable);
  if (!text && preset.keyVariable !== null && preset.credential === undefined) {
    const message = TEXTS.missingSetting(preset.keyVariable);
    part(() => refuse(`${path}.api_key`, message));
  }
  const key = text && text !== NO_KEY ? new Secret(text) : null;
  const values = placeholderValues(preset, given, hostAccess);
  const { credential: kind } = preset;
  const credential =
    text || kind === undefined
      ? undefined
      : part(() => credentialOf(kind, { preset, given, values, path, hostAccess, refuse }));
  const hasOtherAddress = given.baseUrl !== undefined || given.protocols !== undefined;
  const base = fromPreset(preset, {
    key,
    credential,
    values,
    path,
    baseUrl: given.baseUrl,
    hasOtherAddress,
    refuse,
  });
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const name of PROTOCOL_NAMES) {
    const own = base.protocols.get(name);
    const override = given.protocols?.[name];
    // A configured address replaces only the vendor's main address. Protocols at other addresses of the vendor are
    // dropped.
    const entry = isAtOtherAddress(preset, name, given) || !isAddress(own?.baseUrl) ? undefined : own;
    const result = override
      ? part(() =>
          configured(
            name,
            override,
            own ?? lesser(preset, name, given),
            given,
            key,
            `${path}.protocols.${name}`,
            refuse,
          ),
        )
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

/** A protocol of the preset that is enabled only if the configuration names it. */
function lesser(
  preset: ProviderPreset,
  name: ProtocolName,
  given: ProviderConfig,
): ActiveProtocol | undefined {
  const entry = preset.lesserProtocols?.[name];
  if (!entry) return undefined;
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl ?? '';
  // Suffix that the main address has in addition, such as `/v1`, which Messages paths include.
  const rest = main.startsWith(entry.baseUrl) ? main.slice(entry.baseUrl.length) : '';
  const base = given.baseUrl === undefined ? entry.baseUrl : trimUrl(given.baseUrl);
  return {
    ...entry,
    baseUrl:
      given.baseUrl !== undefined && base.endsWith(rest) ? base.slice(0, base.length - rest.length) : base,
    configuredQuirks: {},
    hasConfiguredParameters: false,
    isFaithfulConfigured: false,
    isVendorRun: false,
    auth: null,
  };
}

/** True if the vendor serves the protocol at another address than the replaced one. */
function isAtOtherAddress(preset: ProviderPreset, name: ProtocolName, given: ProviderConfig): boolean {
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl;
  return given.baseUrl !== undefined && preset.protocols[name]?.baseUrl !== main;
}

/** A provider without a preset. */
function fromNothing(
  id: string,
  given: ProviderConfig,
  near: string | undefined,
  refuse: Refuse,
  part: Attempt,
): ActiveProvider | null {
  const path = `providers.${id}`;
  if (given.apiKey === null) return null;
  const entries = Object.entries(given.protocols ?? {}) as [ProtocolName, ProtocolConfig][];
  if (entries.length === 0) {
    refuse(
      path,
      `is not a preset${near === undefined ? '' : ` (did you mean "${near}"?)`}, so it requires \`protocols\`, ` +
        `e.g. \`protocols: { ${mainProtocol.name}: "http://host:8000/v1" }\`, or \`preset\``,
    );
  }
  const text = given.apiKey?.reveal();
  const key = text && text !== NO_KEY ? new Secret(text) : null;
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const [name, entry] of entries) {
    const at = `${path}.protocols.${name}`;
    const made = part(() => configured(name, entry, undefined, given, key, at, refuse));
    if (made) protocols.set(name, made);
  }
  return {
    id,
    name: id,
    protocols,
    defaultProtocol: firstOf(protocols, mainProtocol.name),
    headers: { ...given.headers },
    priceId: null,
    notServed: undefined,
  };
}

/**
 * Features that unknown servers usually lack. Custom tools are OpenAI's own; elsewhere they are rejected, or their
 * grammars are not enforced, so that functions are used instead and checked here. Ollama ignores
 * `max_completion_tokens` (measured 2026-11), so the output limit keeps the name that the client used.
 */
const OF_UNKNOWN_SERVERS: Partial<Quirks> = {
  customTools: false,
  maxTokensField: 'as_written',
  smallLimits: true,
};

/** A protocol entry of the configuration, over the preset's entry if any. */
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
  if (!isAddress(baseUrl)) return refuse(path, 'requires a base URL');
  const forOwnClients = serverFacts(name).forOwnClients === true;
  if (forOwnClients && given.faithful === false)
    return refuse(
      `${path}.faithful`,
      `must not be false, because requests of ${name} are only relayed unchanged`,
    );
  const auth = own?.auth ?? (key && { ...(provider.auth ?? serverFacts(name).auth), key });
  return {
    baseUrl: trimUrl(baseUrl),
    // Requests in such a protocol are never translated, so it is useless unless it can be relayed.
    faithful: forOwnClients || (given.faithful ?? own?.faithful ?? false),
    quirks: own?.quirks ?? (given.faithful === true ? {} : OF_UNKNOWN_SERVERS),
    configuredQuirks: given.quirks ?? {},
    hasConfiguredParameters: given.unsupported !== undefined,
    isFaithfulConfigured: given.faithful !== undefined,
    isVendorRun: own?.isVendorRun === true && isSameHost(baseUrl, own.baseUrl),
    reasoningFormat: given.reasoningFormat ?? (own ? own.reasoningFormat : serverFacts(name).reasoningFormat),
    unsupported: given.unsupported ?? own?.unsupported ?? [],
    alsoTakes: own ? own.alsoTakes : given.faithful === true ? undefined : serverFacts(name).extraParameters,
    compacts: own?.compacts,
    hostedTools: own?.hostedTools,
    members: own?.members,
    hosting: own?.hosting,
    tasks: own?.tasks,
    credential: own?.credential,
    auth,
  };
}

function firstOf(
  protocols: ReadonlyMap<ProtocolName, ActiveProtocol>,
  otherwise: ProtocolName,
): ProtocolName {
  return protocols.keys().next().value ?? otherwise;
}

function isSameHost(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

function trimUrl(url: string): string {
  return url.replace(/\/+$/, '');
}
