// Models, their endpoints, capabilities and prices. Immutable data, resolved once per configuration.
export {
  AUTO_MODELS,
  autoCandidates,
  autoEntry,
  isAuto,
  nearest,
  resolveModelId,
  type ResolvedModel,
} from './model-index.ts';
export { buildCatalog } from './build.ts';
export type { BuiltIn } from './build.ts';
export type { Attempt, CatalogConfig, ModelConfig, ProviderConfig, Refuse } from './catalog-config.ts';
export { endpointsFor } from './make-endpoint.ts';
export { encodeCodexModels } from './codex-models.ts';
export type { Catalog, Endpoint, EndpointCredential, Model } from './endpoint.ts';
export { isOnlyByName, isTextModel } from './families/index.ts';
export type { FindMeasured, MeasuredFacts, MeasuredPlace } from './measured-facts.ts';
export { encodeModel, encodeModelList } from './models-view.ts';
export { similarModels, unknownModel } from './unknown-model.ts';
export type { Price, Rate } from './price.ts';
export { baseRate, isListPriced } from './prices.ts';
export { bookOver, keptBook } from './price-book.ts';
export type { MatchRule, PriceBook, PricedModel, Vendor } from './price-data.ts';
export { BUNDLED_PRICES } from './bundled-prices.ts';
export { diffCatalogs } from './diff-catalogs.ts';
