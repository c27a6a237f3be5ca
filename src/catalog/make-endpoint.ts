// Makes an endpoint: merges facts of the provider, the model family, the price library and the operator once, so that
// requests only read them.
import type {
  CanonicalRequest,
  Parameter,
  ProtocolName,
  Quirks,
  ReasoningStyle,
} from '../canonical/index.ts';
import { serverFacts } from '../protocols/index.ts';
import { resolveQuirks } from './providers/index.ts';
import type { ActiveProtocol, ActiveProvider } from './active-providers.ts';
import { batchOf } from './batch-route.ts';
import type { EndpointConfig } from './catalog-config.ts';
import type { Endpoint, Model } from './endpoint.ts';
import { familyFacts, type FamilyFacts, preferredProtocol, specialModel } from './families/index.ts';
import {
  configuredPrice,
  type LibraryModel,
  type PriceSource,
  UNKNOWN_PRICE,
  withoutOutput,
} from './prices.ts';
import { isUnfaithful, type MeasuredFacts, unsupportedParameters } from './measured-facts.ts';

/** Facts from a provider's own list of models. They replace facts derived from the name. */
export interface StatedFacts {
  readonly reasoningStyle: ReasoningStyle;
  readonly reasoningMandatory: boolean;
  readonly efforts: readonly string[] | null;
  readonly reasoningFormat: string | null;
  readonly faithful: boolean;
  readonly quirks: Partial<Quirks>;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
}

export interface EndpointInput {
  readonly provider: ActiveProvider;
  readonly served: ActiveProtocol;
  readonly protocol: ProtocolName;
  readonly slug: string;
  readonly modelId: string;
  /** The upstream's model name. */
  readonly model: string;
  readonly library: LibraryModel | null;
  readonly stated?: StatedFacts | undefined;
  /** Measured facts. They take precedence over documented ones, but not over the operator's settings. */
  readonly measured?: MeasuredFacts | undefined;
  readonly config?: Omit<EndpointConfig, 'provider'> | undefined;
  readonly countedAs?: Endpoint['countedAs'];
  /** The same endpoint in another protocol. */
  readonly speaking?: Endpoint['speaking'];
  /** Replaces the library's price, but not the endpoint's configured price. */
  readonly price?: PriceSource | undefined;
}

const STRENGTH: Readonly<Record<Quirks['structuredOutput'], number>> = {
  none: 0,
  json_object: 1,
  json_schema: 2,
};

/**
 * Self-hosted servers may be able to reach private addresses. URLs in requests are therefore fetched by the gateway,
 * under guard.
 */
const SELF_HOSTED_QUIRKS: Partial<Quirks> = { fetchesUrls: false, runsMcp: false };

/** Makes a frozen endpoint. Its `price` is a getter, because vendors may charge by date or hour. */
export function makeEndpoint(input: EndpointInput): Endpoint {
  const { provider, served, stated, measured, config, library } = input;
  const family: FamilyFacts = stated
    ? {}
    : familyFacts(input.model, input.protocol, served.quirks.reasoningField ?? 'reasoning_effort');
  const ofModel = stated?.quirks ?? family.quirks ?? {};
  const documented = layerQuirks(served, ofModel);
  const later: Partial<Quirks> = {
    ...measured?.quirks,
    ...(served.isVendorRun ? {} : SELF_HOSTED_QUIRKS),
    ...served.configuredQuirks,
    ...config?.quirks,
  };
  const quirks = { ...documented, ...later };
  const known = stated?.reasoningStyle ?? family.reasoningStyle ?? 'none';
  const style = config?.reasoning ?? measured?.reasoningStyle ?? known;
  // Facts about the documented style do not apply to another one.
  const facts = style === known ? (stated ?? family) : {};
  const budget = 'reasoningBudget' in facts ? facts.reasoningBudget : undefined;
  const source = config?.price
    ? configuredPrice(config.price)
    : (input.price ?? library?.price ?? UNKNOWN_PRICE);
  const price = specialModel(input.model)?.isInputOnly ? withoutOutput(source) : source;
  const endpoint = {
    slug: input.slug,
    provider: provider.id,
    modelId: input.modelId,
    countedAs: input.countedAs,
    model: input.model,
    protocol: input.protocol,
    speaking: input.speaking,
    baseUrl: served.baseUrl,
    auth:
      served.auth &&
      Object.freeze({ header: served.auth.header, prefix: served.auth.prefix, key: served.auth.key }),
    credential: served.credential,
    hosting: served.hosting,
    tasks: served.tasks,
    headers: Object.freeze({ ...provider.headers }),
    networkRoute: provider.networkRoute,
    patience: provider.patience,
    isVendorRun: served.isVendorRun,
    faithful:
      served.faithful &&
      (serverFacts(input.protocol).forOwnClients === true ||
        ((stated?.faithful ?? true) &&
          (served.isFaithfulConfigured || !measured || !isUnfaithful(documented, measured)))),
    compacts: served.faithful && served.compacts === true,
    hostedTools: new Set(served.hostedTools),
    members: served.members,
    quirks: Object.freeze(quirks),
    unsupported: new Set([
      ...unsupportedParameters(
        [...served.unsupported, ...(family.unsupported ?? [])],
        served.hasConfiguredParameters ? undefined : measured?.parameters,
      ),
      ...(config?.unsupported ?? []),
    ]),
    alsoTakes: served.alsoTakes,
    onlyWithoutReasoning: parametersWithoutReasoning(input, family),
    reasoningStyle: style,
    isPrefillKnown: (later.prefill ?? ofModel.prefill ?? served.quirks.prefill) !== undefined,
    isReasoningKnown:
      (config?.reasoning ?? measured?.reasoningStyle ?? stated ?? family.reasoningStyle) !== undefined,
    reasoningMandatory: style !== 'none' && (measuredMandatory(input) ?? facts.reasoningMandatory ?? false),
    reasoningFormat: stated?.reasoningFormat ?? served.reasoningFormat ?? detailsFormat(quirks, family),
    reasoningBudget: Object.freeze(budget ?? { min: serverFacts(input.protocol).smallestBudget, max: null }),
    efforts: facts.efforts ? Object.freeze([...facts.efforts]) : null,
    maxOutputTokens: config?.maxOutputTokens ?? stated?.maxOutputTokens ?? family.maxOutputTokens ?? null,
    contextLength:
      config?.contextLength ??
      measured?.contextLength ??
      stated?.contextLength ??
      library?.contextLength ??
      family.contextLength ??
      null,
    quality: config?.quality ?? null,
    get price() {
      return price();
    },
    batch: batchOf(input, price),
  };
  return Object.freeze(endpoint);
}

/** Aggregators accept reasoning details in the format in which they return them, which is the model's own. */
function detailsFormat(quirks: Quirks, family: FamilyFacts): string | null {
  return quirks.reasoningReplay === 'reasoning_details' ? (family.detailsFormat ?? null) : null;
}

/** Parameters accepted without reasoning, except those that are otherwise unsupported. */
function parametersWithoutReasoning(
  { served, config }: EndpointInput,
  { onlyWithoutReasoning = [] }: FamilyFacts,
): ReadonlySet<Parameter> {
  const refused = new Set([...served.unsupported, ...(config?.unsupported ?? [])]);
  return new Set(onlyWithoutReasoning.filter((parameter) => !refused.has(parameter)));
}

/** Undefined if the operator configured another style than the measured one. */
function measuredMandatory({ measured, config }: EndpointInput): boolean | undefined {
  const isOther = config?.reasoning !== undefined && config.reasoning !== measured?.reasoningStyle;
  return isOther ? undefined : measured?.reasoningMandatory;
}

/** Documented quirks of server and model. */
function layerQuirks(served: ActiveProtocol, family: Partial<Quirks>): Quirks {
  const merged = resolveQuirks(served.quirks, family);
  const server = served.quirks.structuredOutput ?? 'json_schema';
  // Enforcement is limited by both server and model.
  const structuredOutput =
    STRENGTH[merged.structuredOutput] < STRENGTH[server] ? merged.structuredOutput : server;
  return { ...merged, structuredOutput };
}

// Protocols of an endpoint: the preferred one, and those that are equally good. The client's protocol is chosen among
// them when a request is planned.

type ProviderProtocols = Pick<ActiveProvider, 'protocols' | 'protocolOf' | 'defaultProtocol'>;

/** The default protocol for a model. */
export function chooseProtocol(provider: ProviderProtocols, name: string): ProtocolName {
  const preferred = dedicated(provider, name) ?? preferredProtocol(name);
  return preferred && provider.protocols.has(preferred) ? preferred : provider.defaultProtocol;
}

/**
 * Other protocols in which the provider serves a model equally well. Empty if the first one has a reason: the provider
 * has a dedicated protocol for such models, or the family loses features in others.
 */
export function otherProtocols(provider: ProviderProtocols, name: string): readonly ProtocolName[] {
  if (provider.protocols.size < 2) return NONE;
  const first = chooseProtocol(provider, name);
  const others = [...provider.protocols.keys()].filter((protocol) => protocol !== first);
  // These protocols exist only for their own clients, whose requests cannot be translated.
  const own = others.filter((protocol) => serverFacts(protocol).forOwnClients);
  if (dedicated(provider, name) || preferredProtocol(name) === first) return own;
  const forOthers = new Set(provider.protocolOf?.map(({ protocol }) => protocol));
  return others.filter((protocol) => !forOthers.has(protocol));
}

/**
 * Endpoints of a model for a request, in the client's own protocol if they serve it equally well, so that nothing needs
 * to be translated.
 */
export function endpointsFor(
  { endpoints }: Pick<Model, 'endpoints'>,
  { protocol, task }: Pick<CanonicalRequest, 'protocol' | 'task'>,
): readonly Endpoint[] {
  // Tasks other than text do not depend on the protocol.
  if (task || !endpoints.some(({ speaking }) => speaking)) return endpoints;
  return endpoints.map((endpoint) => endpoint.speaking?.(protocol) ?? endpoint);
}

const NONE: readonly ProtocolName[] = [];

/** The provider's protocol for models with such a name, if any. */
function dedicated({ protocolOf }: ProviderProtocols, name: string): ProtocolName | undefined {
  return protocolOf?.find(({ match }) => match.test(name))?.protocol;
}
