// One endpoint, resolved: provider facts, family facts, the price library and the operator's own words laid over
// each other once, so that a request only reads. Knows nothing of how a model is found.
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

/** Facts that a provider's own list of models states; they replace what is guessed from the name. */
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
  /** The upstream's own name. */
  readonly model: string;
  readonly library: LibraryModel | null;
  readonly stated?: StatedFacts | undefined;
  /** Facts that were measured: they count before documents, and after the operator's settings. */
  readonly measured?: MeasuredFacts | undefined;
  readonly config?: Omit<EndpointConfig, 'provider'> | undefined;
  readonly countedAs?: Endpoint['countedAs'];
  /** The same endpoint in another protocol. */
  readonly speaking?: Endpoint['speaking'];
  /** Replaces the library's price; the endpoint's own configured price is stronger. */
  readonly price?: PriceSource | undefined;
}

const STRENGTH: Readonly<Record<Quirks['structuredOutput'], number>> = {
  none: 0,
  json_object: 1,
  json_schema: 2,
};

/**
 * A server that no vendor runs may stand where private addresses lead somewhere: what requests point to is fetched and
 * called from here, under guard.
 */
const LEFT_TO_NOBODY_ELSE: Partial<Quirks> = { fetchesUrls: false, runsMcp: false };

/** Builds a frozen endpoint. Its `price` is read through the clock where the vendor charges by date or hour. */
export function makeEndpoint(input: EndpointInput): Endpoint {
  const { provider, served, stated, measured, config, library } = input;
  const family: FamilyFacts = stated
    ? {}
    : familyFacts(input.model, input.protocol, served.quirks.reasoningField ?? 'reasoning_effort');
  const documented = layerQuirks(served, stated?.quirks ?? family.quirks ?? {});
  const quirks = {
    ...documented,
    ...measured?.quirks,
    ...(served.isVendorRun ? {} : LEFT_TO_NOBODY_ELSE),
    ...served.configuredQuirks,
    ...config?.quirks,
  };
  const known = stated?.reasoningStyle ?? family.reasoningStyle ?? 'none';
  const style = config?.reasoning ?? measured?.reasoningStyle ?? known;
  // Facts about a style that is contradicted are facts about something else.
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
          (served.hasConfiguredFaith || !measured || !isUnfaithful(documented, measured)))),
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
    onlyWithoutReasoning: takenWithoutReasoning(input, family),
    reasoningStyle: style,
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

/** An aggregator that gives details back under the model's own format reads them back in it. */
function detailsFormat(quirks: Quirks, family: FamilyFacts): string | null {
  return quirks.reasoningReplay === 'reasoning_details' ? (family.detailsFormat ?? null) : null;
}

/** Parameters that are taken without reasoning, but for those that another layer calls refused. */
function takenWithoutReasoning(
  { served, config }: EndpointInput,
  { onlyWithoutReasoning = [] }: FamilyFacts,
): ReadonlySet<Parameter> {
  const refused = new Set([...served.unsupported, ...(config?.unsupported ?? [])]);
  return new Set(onlyWithoutReasoning.filter((parameter) => !refused.has(parameter)));
}

/** Nothing where the operator names another style than the one that was met. */
function measuredMandatory({ measured, config }: EndpointInput): boolean | undefined {
  const isOther = config?.reasoning !== undefined && config.reasoning !== measured?.reasoningStyle;
  return isOther ? undefined : measured?.reasoningMandatory;
}

/** Quirks of the server and of the model, from documents. */
function layerQuirks(served: ActiveProtocol, family: Partial<Quirks>): Quirks {
  const merged = resolveQuirks(served.quirks, family);
  const server = served.quirks.structuredOutput ?? 'json_schema';
  // The weaker of server and model decides what is really enforced.
  const structuredOutput =
    STRENGTH[merged.structuredOutput] < STRENGTH[server] ? merged.structuredOutput : server;
  return { ...merged, structuredOutput };
}

// In which protocol an endpoint is spoken to: what its maker or its provider prefers, and in which others it may be spoken
// to just as well. Facts only: the client's own protocol is weighed against them when a request is planned.

type Speaker = Pick<ActiveProvider, 'protocols' | 'protocolOf' | 'defaultProtocol'>;

/** The protocol for a model when nothing is known of the client. */
export function chooseProtocol(provider: Speaker, name: string): ProtocolName {
  const preferred = dedicated(provider, name) ?? preferredProtocol(name);
  return preferred && provider.protocols.has(preferred) ? preferred : provider.defaultProtocol;
}

/**
 * The other protocols in which the provider serves a model as well as in its first one. None where there is a reason
 * for that one: the provider has a protocol for such models alone, or the family loses something in the others.
 */
export function otherProtocols(provider: Speaker, name: string): readonly ProtocolName[] {
  if (provider.protocols.size < 2) return NONE;
  const first = chooseProtocol(provider, name);
  const others = [...provider.protocols.keys()].filter((protocol) => protocol !== first);
  // Nobody else's requests can be said in these, and their clients' requests in nothing else.
  const own = others.filter((protocol) => serverFacts(protocol).forOwnClients);
  if (dedicated(provider, name) || preferredProtocol(name) === first) return own;
  const forOthers = new Set(provider.protocolOf?.map(({ protocol }) => protocol));
  return others.filter((protocol) => !forOthers.has(protocol));
}

/**
 * The endpoints of a model as a request is sent to them: in the client's own protocol where they serve it as well as
 * any other, for then nothing has to be translated.
 */
export function endpointsFor(
  { endpoints }: Pick<Model, 'endpoints'>,
  { protocol, task }: Pick<CanonicalRequest, 'protocol' | 'task'>,
): readonly Endpoint[] {
  // Tasks besides text are nobody's protocol.
  if (task || !endpoints.some(({ speaking }) => speaking)) return endpoints;
  return endpoints.map((endpoint) => endpoint.speaking?.(protocol) ?? endpoint);
}

const NONE: readonly ProtocolName[] = [];

/** The one protocol that the provider has for models of such a name. */
function dedicated({ protocolOf }: Speaker, name: string): ProtocolName | undefined {
  return protocolOf?.find(({ match }) => match.test(name))?.protocol;
}
