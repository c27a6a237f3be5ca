// Which providers are on, and with what: presets, overlaid with what the operator configured and with keys from
// the vendors' own environment variables. Knows nothing of models.
import { type ProtocolName, type Quirks, TEXTS } from '../canonical/index.ts';
import { mainProtocol, PROTOCOL_NAMES, serverFacts } from '../protocols/index.ts';
import type { AuthScheme, Patience, ProviderPreset, ProviderProtocol } from './providers/index.ts';
import { Secret } from '../base/telemetry/secret.ts';
import { type NetworkRoute, STRAIGHT } from '../upstream/network-route.ts';
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
  isPlaced,
  placeOf,
  type Surroundings,
} from './provider-place.ts';

export interface ActiveProvider {
  readonly id: string;
  readonly name: string;
  readonly protocols: ReadonlyMap<ProtocolName, ActiveProtocol>;
  readonly defaultProtocol: ProtocolName;
  readonly protocolOf?: ProviderPreset['protocolOf'];
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: it is reached as everything is. */
  readonly networkRoute?: NetworkRoute | undefined;
  readonly patience?: Patience | undefined;
  /** True: lines of batches go to the vendor's own batch API. */
  readonly batches?: boolean | undefined;
  /** Share of ordinary prices that they cost there. Absent: 1. */
  readonly batchPriceFactor?: number | undefined;
  /** The vendor's id in the price library; null when its prices are nobody's list prices. */
  readonly priceId: string | null;
  readonly notServed: RegExp | undefined;
}

export interface ActiveProtocol extends Omit<ProviderProtocol, 'auth'> {
  /** Quirks that the operator configured: they count before those known of a model. */
  readonly configuredQuirks: NonNullable<ProtocolConfig['quirks']>;
  /** True: the operator listed the parameters that it does not take. */
  readonly hasConfiguredParameters: boolean;
  /** True: the operator said whether answers and requests may be passed on as they are. */
  readonly hasConfiguredFaith: boolean;
  /** True: it is where the vendor serves it. */
  readonly isVendorRun: boolean;
  readonly auth: (AuthScheme & { readonly key: Secret }) | null;
  /** Signer of requests where `auth` is null. */
  readonly credential?: EndpointCredential | undefined;
}

/** An operator writes this where a key is expected and the server wants none. */
const NO_KEY = 'none';

/**
 * Every provider that is on.
 * @param presets those known
 * @param builtIn presets of servers that run in this process: on unless switched off
 * @param surroundings the vendors' own variables, and files they name
 * @returns those that are on, and the ids of those that were refused: nothing is known of their models
 */
export function activeProviders(
  config: CatalogConfig['providers'],
  presets: readonly ProviderPreset[],
  builtIn: readonly ProviderPreset[],
  surroundings: Surroundings,
  refuse: Refuse,
  attempt: Attempt,
): { readonly active: ReadonlyMap<string, ActiveProvider>; readonly refused: ReadonlySet<string> } {
  const refused = new Set<string>();
  const byId = new Map([...presets, ...builtIn].map((preset) => [preset.id, preset]));
  const active = new Map<string, ActiveProvider>();
  for (const preset of builtIn) {
    if (!(preset.id in config))
      active.set(preset.id, {
        ...fromPreset(preset, { key: null, words: {}, path: `providers.${preset.id}`, refuse }),
        networkRoute: STRAIGHT,
      });
  }
  for (const preset of presets) {
    if (preset.id in config || preset.namedOnly === true) continue;
    const key = preset.keyVariable === null ? undefined : surroundings.environment[preset.keyVariable];
    // A server without a key is on only when the operator names it, as is one of which nobody knows where it is.
    if (!key) continue;
    const words = placeOf(preset, {}, surroundings);
    if (isPlaced(preset, words))
      active.set(
        preset.id,
        fromPreset(preset, { key: new Secret(key), words, path: `providers.${preset.id}`, refuse }),
      );
  }
  for (const [id, given] of Object.entries(config)) {
    if (given === false) continue;
    const path = `providers.${id}`;
    /** The same for a part of this provider, which is wrong as a whole then. */
    const part: Attempt = (make) => {
      const made = attempt(() => [make()] as const);
      if (!made) refused.add(id);
      return made?.[0];
    };
    if (given.preset !== undefined && !byId.has(given.preset)) {
      const presetsKnown = [...byId.keys()].join(', ');
      part(() =>
        refuse(`${path}.preset`, `there is no preset "${given.preset}"; presets are ${presetsKnown}`),
      );
      continue;
    }
    const preset = byId.get(given.preset ?? id);
    const provider = part(() =>
      preset
        ? overlay(id, preset, given, surroundings, refuse, part)
        : fromNothing(id, given, nearest(id, [...byId.keys()], 1)[0], refuse, part),
    );
    // A server of this process is nowhere else.
    const isOwn = preset !== undefined && builtIn.includes(preset);
    const networkRoute = isOwn ? STRAIGHT : part(() => networkRouteOf(given, path, surroundings, refuse));
    if (!provider) continue;
    const addresses = [...provider.protocols.values()].map(({ baseUrl }) => baseUrl);
    if (given.tls && addresses.length > 0 && !addresses.some((address) => address.startsWith('https:')))
      part(() => refuse(`${path}.tls`, 'is for https addresses, and none of this provider is one'));
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
  readonly words: Readonly<Record<string, string>>;
  /** Path of the provider in the configuration. */
  readonly path: string;
  /** Takes the place of the vendor's main address. */
  readonly baseUrl?: string | undefined;
  /** True: the operator says where the server is, and need not say where the vendor would have it. */
  readonly isPlacedOtherwise?: boolean | undefined;
  readonly refuse: Refuse;
}

function fromPreset(preset: ProviderPreset, completion: Completion): ActiveProvider {
  const { key, credential, words, path, refuse } = completion;
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl;
  for (const name of PROTOCOL_NAMES) {
    const entry = preset.protocols[name];
    if (!entry) continue;
    const own = entry.baseUrl === main ? completion.baseUrl : undefined;
    const baseUrl = own ?? fillAddress(entry.baseUrl, words);
    if (!isAddress(baseUrl) && !completion.isPlacedOtherwise) refuseMissing(preset, words, path, refuse);
    const hosting = entry.hosting && fillHosting(entry.hosting, words);
    const auth = key && { ...(entry.auth ?? preset.auth), key };
    const vendors = fillAddress(entry.baseUrl, words);
    protocols.set(name, {
      ...entry,
      baseUrl: trimUrl(baseUrl),
      hosting,
      configuredQuirks: {},
      hasConfiguredParameters: false,
      hasConfiguredFaith: false,
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

/** Null when the operator left its key empty on purpose (`${KEY:-}`). */
function overlay(
  id: string,
  preset: ProviderPreset,
  given: ProviderConfig,
  surroundings: Surroundings,
  refuse: Refuse,
  part: Attempt,
): ActiveProvider | null {
  if (given.apiKey === null) return null;
  const path = `providers.${id}`;
  const fromVariable = preset.keyVariable === null ? undefined : surroundings.environment[preset.keyVariable];
  const text = given.apiKey?.reveal() ?? (namesCredential(given) ? undefined : fromVariable);
  if (!text && preset.keyVariable !== null && preset.credential === undefined) {
    const message = TEXTS.missingSetting(preset.keyVariable);
    part(() => refuse(`${path}.api_key`, message));
  }
  const key = text && text !== NO_KEY ? new Secret(text) : null;
  const words = placeOf(preset, given, surroundings);
  const { credential: kind } = preset;
  const credential =
    text || kind === undefined
      ? undefined
      : part(() => credentialOf(kind, { preset, given, words, path, surroundings, refuse }));
  const isPlacedOtherwise = given.baseUrl !== undefined || given.protocols !== undefined;
  const base = fromPreset(preset, {
    key,
    credential,
    words,
    path,
    baseUrl: given.baseUrl,
    isPlacedOtherwise,
    refuse,
  });
  const protocols = new Map<ProtocolName, ActiveProtocol>();
  for (const name of PROTOCOL_NAMES) {
    const own = base.protocols.get(name);
    const override = given.protocols?.[name];
    // Another address serves what the vendor serves at that address, and nothing is known of its other ones.
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

/** Facts of a protocol that a preset serves only where it is named. */
function lesser(
  preset: ProviderPreset,
  name: ProtocolName,
  given: ProviderConfig,
): ActiveProtocol | undefined {
  const entry = preset.lesserProtocols?.[name];
  if (!entry) return undefined;
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl ?? '';
  // Rest of the main address behind that of this protocol: `/v1` in front of Messages.
  const rest = main.startsWith(entry.baseUrl) ? main.slice(entry.baseUrl.length) : '';
  const base = given.baseUrl === undefined ? entry.baseUrl : trimUrl(given.baseUrl);
  return {
    ...entry,
    baseUrl:
      given.baseUrl !== undefined && base.endsWith(rest) ? base.slice(0, base.length - rest.length) : base,
    configuredQuirks: {},
    hasConfiguredParameters: false,
    hasConfiguredFaith: false,
    isVendorRun: false,
    auth: null,
  };
}

/** True for a protocol that the vendor serves at another address than the one that the operator replaced. */
function isAtOtherAddress(preset: ProviderPreset, name: ProtocolName, given: ProviderConfig): boolean {
  const main = preset.protocols[preset.defaultProtocol]?.baseUrl;
  return given.baseUrl !== undefined && preset.protocols[name]?.baseUrl !== main;
}

/** Anything that speaks a known protocol. */
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
      `is not a preset${near === undefined ? '' : ` (did you mean "${near}"?)`}, so it needs \`protocols\`, ` +
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
 * Features that are not expected of a server that no preset knows. Custom tools are OpenAI's own: elsewhere they are refused, or
 * their grammars are enforced by nobody, while functions in their place are checked here. Ollama ignores
 * `max_completion_tokens` (measured 2026-11): a limit keeps the name that its client chose.
 */
const OF_UNKNOWN_SERVERS: Partial<Quirks> = {
  customTools: false,
  maxTokensField: 'as_written',
  smallLimits: true,
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
  if (!isAddress(baseUrl)) return refuse(path, 'needs a base URL');
  const forOwnClients = serverFacts(name).forOwnClients === true;
  if (forOwnClients && given.faithful === false)
    return refuse(`${path}.faithful`, `must not be false: requests of ${name} only pass as they are`);
  const auth = own?.auth ?? (key && { ...(provider.auth ?? serverFacts(name).auth), key });
  return {
    baseUrl: trimUrl(baseUrl),
    // Nothing is translated for one of these: what is not relayed is not sent at all.
    faithful: forOwnClients || (given.faithful ?? own?.faithful ?? false),
    quirks: own?.quirks ?? (given.faithful === true ? {} : OF_UNKNOWN_SERVERS),
    configuredQuirks: given.quirks ?? {},
    hasConfiguredParameters: given.unsupported !== undefined,
    hasConfiguredFaith: given.faithful !== undefined,
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
