// Builds the catalog from a configuration: the operator's models, those of the simulated provider, and all models that
// the price library lists for enabled providers. Runs once per configuration.
import { countedNames, plainModelName, type ProtocolName } from '../canonical/index.ts';
import type { ProviderPreset } from './providers/index.ts';
import { type ActiveProvider, activeProviders } from './active-providers.ts';
import { checkAliases } from './check-aliases.ts';
import { hasBatches, NO_BATCHES } from './batch-route.ts';
import { chooseProtocol, makeEndpoint, otherProtocols } from './make-endpoint.ts';
import type { EndpointInput, StatedFacts } from './make-endpoint.ts';
import type { Attempt, CatalogConfig, EndpointConfig, ModelConfig, Refuse } from './catalog-config.ts';
import { dateInName } from './date-in-name.ts';
import type { Catalog, Endpoint, Model } from './endpoint.ts';
import { apiName, familyFacts, isTextModel, looseName, specialModel } from './families/index.ts';
import type { FindMeasured } from './measured-facts.ts';
import { indexModels } from './model-index.ts';
import type { Price } from './price.ts';
import type { PriceBook } from './price-data.ts';
import { BUNDLED_PRICES } from './bundled-prices.ts';
import { configuredPrice, libraryModel, type LibraryModel, libraryModels } from './prices.ts';
import { providersOff } from './providers-off.ts';
import { originOf, secretsOf } from './provider-secrets.ts';
import type { UnixMs } from '../base/units.ts';

/** A model declared by a built-in provider. */
export interface DeclaredModel extends StatedFacts {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** Absent: text. */
  readonly outputModalities?: readonly string[] | undefined;
  /** USD per million tokens. */
  readonly price: Omit<Price, 'source'>;
}

/** A provider in this process, which declares its own models. */
export interface BuiltIn {
  readonly preset: ProviderPreset;
  readonly models: readonly DeclaredModel[];
  /** Finds names that are not listed. */
  readonly find?: ((name: string) => DeclaredModel | null) | undefined;
}

export interface BuildInput {
  readonly config: CatalogConfig;
  readonly presets: readonly ProviderPreset[];
  /** The simulated provider; null: off. */
  readonly sim: BuiltIn | null;
  /** Finds measured facts of an endpoint. Default: none. */
  readonly measured?: FindMeasured | undefined;
  /** Environment variables, for the vendors' own key variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads credential files named by the environment. Default: there are none. */
  readonly readFile?: ((path: string) => string) | undefined;
  /** Reads files named by the configuration. Default: as above. */
  readonly readNamed?: ((path: string) => string) | undefined;
  /** Prices of vendors. Default: the bundled ones. */
  readonly prices?: PriceBook | undefined;
  /** Unix milliseconds, for time-dependent prices. */
  readonly now: () => UnixMs;
  readonly refuse: Refuse;
  /** Continues after a rejected part; the catalog must not be used then. Default: stops at the first problem. */
  readonly attempt?: Attempt | undefined;
}

/** Builds the catalog. Reports problems through `input.refuse`. */
export function buildCatalog(input: BuildInput): Catalog {
  const { config, sim, now, refuse, prices = BUNDLED_PRICES, attempt = (make) => make() } = input;
  const builtAt = Math.floor(now() / 1000);
  const { readFile = noFile, readNamed = readFile } = input;
  const { active: providers, refused } = activeProviders(
    config.providers,
    input.presets,
    sim ? [sim.preset] : [],
    { environment: input.environment, readFile, readNamed },
    refuse,
    attempt,
  );
  const models = new Map<string, Model>();
  for (const provider of providers.values()) {
    if (provider.priceId === null) continue;
    for (const known of libraryModels(provider.priceId, now, prices)) {
      const isText = isTextModel(known.id) && isTextModel(known.name);
      const served = (isText || specialModel(known.id)) && !provider.notServed?.test(known.id);
      if (served) addListed(provider, known);
    }
  }
  if (sim && providers.has(sim.preset.id)) {
    for (const declared of sim.models) {
      const model = declaredModel(sim.preset.id, declared);
      models.set(model.id, model);
    }
  }
  const configuredIds = new Set<string>();
  /** Ids of configured models by their provider and upstream name, normalised. */
  const servedAs = new Map<string, string[]>();
  config.models.forEach((given, index) => {
    const path = `models[${index}]`;
    if (configuredIds.has(given.id)) attempt(() => refuse(`${path}.id`, `"${given.id}" is a duplicate id`));
    configuredIds.add(given.id);
    const made = configuredModel(given, path);
    models.set(given.id, made);
    for (const endpoint of made.endpoints) {
      const served = plainModelName(`${endpoint.provider}/${endpoint.model}`);
      servedAs.set(served, [...(servedAs.get(served) ?? []), given.id]);
    }
  });

  const secrets = Object.freeze([...providers.values()].flatMap(secretsOf));
  const index = indexModels({
    models: [...models.values()].filter((model) => isListed(model)),
    unlistedModels: [...models.values()].filter((model) => !isListed(model)),
    aliases: config.aliases,
    providers: new Set(providers.keys()),
    off: providersOff(input.presets, config.providers, (id) => providers.has(id)),
    unlisted,
    dated,
    claimed,
  });
  const origins = new Map([...providers.values()].flatMap(originOf));
  const names = new Map([...providers.values()].map(({ id, name }) => [id, name]));
  const catalog: Catalog = Object.freeze({
    ...index,
    providers: () => names,
    secrets: () => secrets,
    credentialOrigins: () => origins,
  });
  checkAliases(config.aliases, { catalog, configured: configuredIds, refused }, refuse, attempt);
  return catalog;

  /** Makes an endpoint, including its measured facts. @param others alternative protocols */
  function endpointWith(
    given: Omit<EndpointInput, 'measured' | 'speaking'>,
    others: readonly ProtocolName[] = [],
  ): Endpoint {
    const { provider, protocol, model, served } = given;
    const place = { provider: provider.id, protocol, model, baseUrl: served.baseUrl };
    // Made on first use, because most clients use one protocol, and there are thousands of models.
    const made = new Map<ProtocolName, Endpoint>();
    const speaking = (other: ProtocolName): Endpoint | undefined => {
      const also = others.includes(other) ? provider.protocols.get(other) : undefined;
      let endpoint = made.get(other);
      if (also && !endpoint) {
        endpoint = endpointWith({ ...given, served: also, protocol: other });
        made.set(other, endpoint);
      }
      return endpoint;
    };
    let names: string | undefined;
    return makeEndpoint({
      ...given,
      countedAs: () => (names ??= countedNames(namesOf(given.modelId, provider.id, model))),
      measured: input.measured?.(place),
      ...(others.length > 0 && { speaking }),
    });
  }

  /** Ids by which limits may name a model. A suffix such as `:free` is a variant, unless that name is listed. */
  function namesOf(modelId: string, provider: string, model: string): readonly string[] {
    const own = `${provider}/${model}`;
    const colon = models.has(modelId) ? -1 : own.lastIndexOf(':');
    const stems = colon > provider.length ? [own.slice(0, colon)] : [];
    const others = [own, ...stems].flatMap((name) => servedAs.get(plainModelName(name)) ?? []);
    return [modelId, own, ...stems, ...others];
  }

  /** Models that do not write text are not listed unless configured. */
  function isListed({ id, outputModalities }: Model): boolean {
    return configuredIds.has(id) || outputModalities.includes('text');
  }

  function addListed(provider: ActiveProvider, known: LibraryModel): void {
    // If the library's id and the API's name differ only in spelling (GLM-5.2, glm-5.2), the API's is used.
    const name = looseName(known.id) === looseName(known.name) ? known.name : known.id;
    const id = `${provider.id}/${name}`;
    if (!models.has(id)) models.set(id, servedModel(provider, id, known.name, known));
  }

  /** A model with a single endpoint at its provider. */
  function servedModel(
    provider: ActiveProvider,
    id: string,
    name: string,
    library: LibraryModel | null,
  ): Model {
    const protocol = chooseProtocol(provider, name);
    const served = provider.protocols.get(protocol);
    if (!served) return refuse(`providers.${provider.id}`, `serves no protocol`);
    const endpoint = endpointWith(
      { provider, served, protocol, slug: provider.id, modelId: id, model: name, library },
      otherProtocols(provider, name),
    );
    return makeModel(id, [endpoint], library, builtAt);
  }

  function declaredModel(providerId: string, declared: DeclaredModel): Model {
    const provider = providers.get(providerId);
    const served = provider?.protocols.get(declared.protocol);
    const id = `${providerId}/${declared.name}`;
    if (!provider || !served) return refuse(`providers.${providerId}`, `does not serve ${declared.protocol}`);
    const price: Price = Object.freeze({ ...declared.price, source: providerId });
    const endpoint = endpointWith({
      provider,
      served,
      protocol: declared.protocol,
      slug: providerId,
      modelId: id,
      model: declared.name,
      library: null,
      stated: declared,
      price: () => price,
    });
    return makeModel(id, [endpoint], null, builtAt, {
      builtIn: true,
      outputModalities: declared.outputModalities,
    });
  }

  function unlisted(providerId: string, name: string): Model | null {
    const provider = providers.get(providerId);
    if (!provider) return null;
    if (sim && providerId === sim.preset.id) {
      const declared = sim.find?.(name);
      return declared ? declaredModel(providerId, declared) : null;
    }
    const real = apiName(name, chooseProtocol(provider, name));
    const id = `${providerId}/${real}`;
    const listed = models.get(id);
    if (listed) return listed;
    if (config.catalog?.onlyKnown === true) return null;
    const library = provider.priceId === null ? null : libraryModel(provider.priceId, real, now, prices);
    return servedModel(provider, id, real, library);
  }

  function dated(model: Model, date: string): Model | null {
    // Configured endpoints apply to all versions of a model.
    if (configuredIds.has(model.id)) return model;
    const endpoint = model.endpoints[0];
    return endpoint ? unlisted(endpoint.provider, endpoint.model + date) : null;
  }

  function claimed(name: string): Model | null {
    if (!isTextModel(name) && !specialModel(name)) return null;
    const owners = [...providers.values()].filter(
      (provider) =>
        provider.priceId !== null &&
        !provider.notServed?.test(name) &&
        libraryModel(provider.priceId, name, now, prices) !== null,
    );
    const owner = owners[0];
    return owner && owners.length === 1 ? unlisted(owner.id, name) : null;
  }

  function configuredModel(given: ModelConfig, path: string): Model {
    const slash = given.id.indexOf('/');
    const name = given.id.slice(slash + 1);
    let list = given.endpoints;
    if (list.length === 0) {
      const own = slash > 0 ? given.id.slice(0, slash) : '';
      const isThere = providers.has(own) || refused.has(own);
      list = isThere ? [{ provider: own }] : [];
      if (!isThere)
        attempt(() =>
          refuse(`${path}.endpoints`, `missing, and "${own || given.id}" is not an enabled provider`),
        );
    }
    const slugs = new Set<string>();
    const endpoints = list.flatMap((entry, index) => {
      if (refused.has(entry.provider)) return [];
      const at = `${path}.endpoints[${index}]`;
      return attempt(() => configuredEndpoint(given, entry, name, slugs, at)) ?? [];
    });
    const first = endpoints[0];
    const provider = first && providers.get(first.provider);
    const library =
      first && provider?.priceId ? libraryModel(provider.priceId, first.model, now, prices) : null;
    return makeModel(given.id, endpoints, library, builtAt, given);
  }

  function configuredEndpoint(
    model: ModelConfig,
    given: EndpointConfig,
    name: string,
    slugs: Set<string>,
    path: string,
  ): Endpoint {
    const provider = providers.get(given.provider);
    if (!provider) {
      const on = [...providers.keys()].join(', ');
      return refuse(
        `${path}.provider`,
        `"${given.provider}" is not an enabled provider; enabled are: ${on || 'none'}`,
      );
    }
    const listed = given.model === undefined ? models.get(`${provider.id}/${name}`)?.endpoints[0] : undefined;
    const wanted = given.model ?? listed?.model ?? name;
    const declared =
      sim && provider.id === sim.preset.id
        ? (sim.models.find((model) => model.name === wanted) ?? sim.find?.(wanted) ?? null)
        : null;
    const protocol = given.protocol ?? declared?.protocol ?? chooseProtocol(provider, wanted);
    const served = provider.protocols.get(protocol);
    if (!served) {
      const spoken = [...provider.protocols.keys()].join(', ');
      return refuse(`${path}.protocol`, `${provider.id} does not support ${protocol}; it supports ${spoken}`);
    }
    const real = given.model === undefined ? apiName(wanted, protocol) : wanted;
    const slug = chooseSlug(provider.id, given.name, real, slugs);
    if (slug === null)
      return refuse(path, `is another endpoint of ${provider.id} for ${real}; give it a unique \`name\``);
    slugs.add(slug);
    if (given.batch === 'vendor' && !hasBatches(protocol)) return refuse(`${path}.batch`, NO_BATCHES);
    const library = provider.priceId === null ? null : libraryModel(provider.priceId, real, now, prices);
    const others = given.protocol || declared ? [] : otherProtocols(provider, real);
    const facts = {
      provider,
      served,
      protocol,
      slug,
      modelId: model.id,
      model: real,
      library,
      stated: declared ? statedOver(declared, protocol) : undefined,
      config: {
        ...given,
        reasoning: given.reasoning ?? model.reasoning,
        contextLength: given.contextLength ?? model.contextLength,
        maxOutputTokens: given.maxOutputTokens ?? model.maxOutputTokens,
        quality: given.quality ?? model.quality,
      },
      price: priceFor(model, declared),
    };
    return endpointWith(facts, others);
  }

  function priceFor(model: ModelConfig, declared: DeclaredModel | null): (() => Price | null) | undefined {
    if (model.price) return configuredPrice(model.price);
    if (!declared || !sim) return undefined;
    const price: Price = Object.freeze({ ...declared.price, source: sim.preset.id });
    return () => price;
  }
}

/** Facts declared for a model's own protocol do not apply to other protocols. */
function statedOver(declared: DeclaredModel, protocol: ProtocolName): StatedFacts {
  return protocol === declared.protocol ? declared : { ...declared, reasoningFormat: null, quirks: {} };
}

function noFile(): never {
  throw new TypeError('files cannot be read in this context');
}

/**
 * `provider`, `provider/name` for a named endpoint, or `provider/model` for a second one; null if that is taken too.
 */
function chooseSlug(
  provider: string,
  name: string | undefined,
  model: string,
  taken: ReadonlySet<string>,
): string | null {
  const candidates = name === undefined ? [provider, `${provider}/${model}`] : [`${provider}/${name}`];
  return candidates.find((slug) => !taken.has(slug)) ?? null;
}

const TEXT: readonly string[] = ['text'];

function makeModel(
  id: string,
  endpoints: readonly Endpoint[],
  library: LibraryModel | null,
  builtAt: UnixMs,
  given: Partial<ModelConfig & Pick<Model, 'builtIn'>> = {},
): Model {
  const first = endpoints[0];
  const slash = id.indexOf('/');
  const special = first && specialModel(first.model);
  // Family facts apply only to text models.
  const facts =
    first && !special ? familyFacts(first.model, first.protocol, first.quirks.reasoningField) : {};
  return Object.freeze({
    id,
    displayName: given.displayName ?? library?.displayName ?? id.slice(slash + 1),
    created: (first && dateInName(first.model)) ?? builtAt,
    ownedBy: slash > 0 ? id.slice(0, slash) : (first?.provider ?? 'dragoman'),
    inputModalities: Object.freeze([...(given.inputModalities ?? facts.inputModalities ?? TEXT)]),
    outputModalities: Object.freeze([...(given.outputModalities ?? special?.outputModalities ?? TEXT)]),
    reasoningStyle: given.reasoning ?? first?.reasoningStyle ?? 'none',
    contextLength: given.contextLength ?? first?.contextLength ?? null,
    maxOutputTokens: given.maxOutputTokens ?? first?.maxOutputTokens ?? null,
    quality: given.quality ?? null,
    builtIn: given.builtIn ?? false,
    endpoints: Object.freeze([...endpoints]),
  });
}
