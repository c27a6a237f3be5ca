// Routing wishes of a request, a key or the operator's defaults. Only shapes and words: `routing/` decides what they
// mean, and none of them reaches an upstream.
import type { DurationMs } from '../base/units.ts';

/** Strategies for the order of endpoints. `order` is another word for `priority`. */
export const ROUTING_TYPES = ['priority', 'order', 'round_robin', 'least_latency'] as const;
/**
 * Factors that `priority` can put first. `price` is `cost`; `latency` and `throughput` are the two halves of `speed`.
 */
export const PRIMARY_FACTORS = ['cost', 'price', 'speed', 'latency', 'throughput', 'quality'] as const;
/** Reactions to an answer that breaks off after its first content. */
export const STREAM_SAFETIES = ['error', 'buffer', 'continue'] as const;
export const COMPLEXITIES = ['low', 'medium', 'high'] as const;
/** Strategies that `model_routing_config.preference` may name instead of a model. */
export const MODEL_STRATEGIES = ['balanced', 'performance', 'price'] as const;

export type RoutingType = Exclude<(typeof ROUTING_TYPES)[number], 'order'>;
export type RoutingFactor = Exclude<(typeof PRIMARY_FACTORS)[number], 'price'>;
export type StreamSafety = (typeof STREAM_SAFETIES)[number];
export type Complexity = (typeof COMPLEXITIES)[number];
export type ModelStrategy = (typeof MODEL_STRATEGIES)[number];

/** Names as somebody wrote them, with the place where they stand, for messages. */
export interface NameList {
  /** e.g. `provider.routing.providers`. */
  readonly path: string;
  readonly names: readonly string[];
}

/** Highest acceptable prices in USD: per million tokens, and per request. */
export interface PriceLimit {
  readonly prompt?: number | undefined;
  readonly completion?: number | undefined;
  readonly request?: number | undefined;
}

/** Limits of time in milliseconds; those of the configuration hold where one is absent. */
export interface TimeLimits {
  /** All attempts together. */
  readonly totalMs?: DurationMs | undefined;
  /** Streams: until the first content. */
  readonly firstTokenMs?: DurationMs | undefined;
  /** Longest silence after that. */
  readonly idleMs?: DurationMs | undefined;
}

/** Wishes of one level. The request's word counts before the key's, the key's before the configuration's. */
export interface RoutingWishes {
  readonly type?: RoutingType | undefined;
  readonly factor?: RoutingFactor | undefined;
  /** These alone, in this order: provider or endpoint slugs. */
  readonly providers?: NameList | undefined;
  /** These first; the others may follow. */
  readonly prefer?: NameList | undefined;
  /** These alone, in any order. */
  readonly only?: NameList | undefined;
  readonly ignore?: NameList | undefined;
  /** True: only endpoints that take every parameter of the request. */
  readonly requireParameters?: boolean | undefined;
  readonly maxPrice?: PriceLimit | undefined;
  /** Whether others stand in for an endpoint that fails, or which: providers, endpoints, models. */
  readonly fallback?: boolean | NameList | undefined;
  readonly streamSafety?: StreamSafety | undefined;
  /** True: a second attempt may start when the first is late. */
  readonly hedge?: boolean | undefined;
  readonly limits?: TimeLimits | undefined;
}

/** The wishes in an operator's own words, for everybody or for one key: what `routing.default` holds. */
export interface RoutingDefaults {
  readonly type?: (typeof ROUTING_TYPES)[number] | undefined;
  readonly primary_factor?: (typeof PRIMARY_FACTORS)[number] | undefined;
  readonly providers?: readonly string[] | undefined;
  readonly order?: readonly string[] | undefined;
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly require_parameters?: boolean | undefined;
  readonly max_price?: PriceLimit | undefined;
  readonly fallback?: boolean | string | readonly string[] | undefined;
  readonly stream_safety?: StreamSafety | undefined;
  readonly hedge?: boolean | undefined;
}

/**
 * The wishes that an operator's words mean.
 * @param path where the words stand, e.g. `routing.default`: begins the path of every list of names
 */
export function toWishes(words: RoutingDefaults, path: string): RoutingWishes {
  const list = (name: 'providers' | 'order' | 'only' | 'ignore'): NameList | undefined =>
    words[name] && toNameList(words[name], `${path}.${name}`);
  return {
    type: words.type && toRoutingType(words.type),
    factor: words.primary_factor && toRoutingFactor(words.primary_factor),
    providers: list('providers'),
    prefer: list('order'),
    only: list('only'),
    ignore: list('ignore'),
    requireParameters: words.require_parameters,
    maxPrice: words.max_price,
    fallback: words.fallback === undefined ? undefined : toFallback(words.fallback, `${path}.fallback`),
    streamSafety: words.stream_safety,
    hedge: words.hedge,
  };
}

/** The strategy that a word names. */
export function toRoutingType(word: (typeof ROUTING_TYPES)[number]): RoutingType {
  return word === 'order' ? 'priority' : word;
}

/** The factor that a word names. */
export function toRoutingFactor(word: (typeof PRIMARY_FACTORS)[number]): RoutingFactor {
  return word === 'price' ? 'cost' : word;
}

/** `fallback`: a switch, which may be a word, or names. */
export function toFallback(value: boolean | string | readonly string[], path: string): boolean | NameList {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return toNameList(typeof value === 'string' ? [value] : value, path);
}

/** Names with their place; a name that stands there twice counts once. */
export function toNameList(names: readonly string[], path: string): NameList {
  return { path, names: [...new Set(names)] };
}

/** `model_routing_config`: choice among models for one request. */
export interface ModelRouting {
  readonly availableModels?: readonly string[] | undefined;
  /** A strategy's word, or a model's name. */
  readonly preference?: string | undefined;
  readonly taskType?: string | undefined;
  readonly complexity?: Complexity | undefined;
}
