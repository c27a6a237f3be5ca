// One endpoint, resolved: provider facts, family facts, the price library and the operator's own words laid over
// each other once, so that a request only reads. Knows nothing of how a model is found.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';
import { serverFacts } from '../protocols/index.ts';
import { resolveQuirks } from '../providers/index.ts';
import type { ActiveProtocol, ActiveProvider } from './active-providers.ts';
import type { EndpointConfig } from './catalog-config.ts';
import type { Endpoint } from './endpoint.ts';
import { familyFacts, isEmbeddingModel } from './families/index.ts';
import type { FamilyFacts } from './families/index.ts';
import { UNKNOWN_PRICE, configuredPrice, withoutOutput } from './prices.ts';
import type { LibraryModel, PriceSource } from './prices.ts';
import { isUnfaithful, unsupportedParameters, type MeasuredFacts } from './measured-facts.ts';

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
  /** What was found out by asking: stronger than documents, weaker than the operator. */
  readonly measured?: MeasuredFacts | undefined;
  readonly config?: Omit<EndpointConfig, 'provider'> | undefined;
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
  const price = isEmbeddingModel(input.model) ? withoutOutput(source) : source;
  const endpoint = {
    slug: input.slug,
    provider: provider.id,
    modelId: input.modelId,
    model: input.model,
    protocol: input.protocol,
    speaking: input.speaking,
    baseUrl: served.baseUrl,
    auth:
      served.auth &&
      Object.freeze({ header: served.auth.header, prefix: served.auth.prefix, key: served.auth.key }),
    credential: served.credential,
    hosting: served.hosting,
    headers: Object.freeze({ ...provider.headers }),
    road: provider.road,
    isVendorRun: served.isVendorRun,
    faithful:
      served.faithful &&
      (stated?.faithful ?? true) &&
      (served.hasConfiguredFaith || !measured || !isUnfaithful(documented, measured)),
    compacts: served.faithful && served.compacts === true,
    hostedTools: new Set(served.hostedTools),
    quirks: Object.freeze(quirks),
    unsupported: new Set([
      ...unsupportedParameters(
        [...served.unsupported, ...(family.unsupported ?? [])],
        served.hasConfiguredParameters ? undefined : measured?.parameters,
      ),
      ...(config?.unsupported ?? []),
    ]),
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
  };
  return Object.freeze(endpoint);
}

/** An aggregator that gives details back under the model's own format reads them back in it. */
function detailsFormat(quirks: Quirks, family: FamilyFacts): string | null {
  return quirks.reasoningReplay === 'reasoning_details' ? (family.detailsFormat ?? null) : null;
}

/** Without those that somebody else than the family says are refused. */
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

/** What documents say of the server and of the model. */
function layerQuirks(served: ActiveProtocol, family: Partial<Quirks>): Quirks {
  const merged = resolveQuirks(served.quirks, family);
  const server = served.quirks.structuredOutput ?? 'json_schema';
  // The weaker of server and model decides what is really enforced.
  const structuredOutput =
    STRENGTH[merged.structuredOutput] < STRENGTH[server] ? merged.structuredOutput : server;
  return { ...merged, structuredOutput };
}
