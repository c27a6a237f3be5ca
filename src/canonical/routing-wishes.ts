// Routing preferences of a request, a key or the configuration. `routing/` interprets them; they are never sent upstream.
import type { DurationMs } from '../base/units.ts';

/** Strategies for the order of endpoints. `order` is an alias of `priority`. */
export const ROUTING_TYPES = ['priority', 'order', 'round_robin', 'least_latency'] as const;
/**
 * Primary factors of `priority`. `price` is an alias of `cost`; `latency` and `throughput` are the two parts of `speed`.
 */
export const PRIMARY_FACTORS = ['cost', 'price', 'speed', 'latency', 'throughput', 'quality'] as const;
/** Reactions to a stream that breaks after its first content. */
export const STREAM_SAFETIES = ['error', 'buffer', 'continue'] as const;
export const COMPLEXITIES = ['low', 'medium', 'high'] as const;
/** Strategies for `model_routing_config.preference`, which may also name a model. */
export const MODEL_STRATEGIES = ['balanced', 'performance', 'price'] as const;

export type RoutingType = Exclude<(typeof ROUTING_TYPES)[number], 'order'>;
export type RoutingFactor = Exclude<(typeof PRIMARY_FACTORS)[number], 'price'>;
export type StreamSafety = (typeof STREAM_SAFETIES)[number];
export type Complexity = (typeof COMPLEXITIES)[number];
export type ModelStrategy = (typeof MODEL_STRATEGIES)[number];

/** Names as configured or sent, and their path for messages. */
export interface NameList {
  /** e.g. `provider.routing.providers`. */
  readonly path: string;
  readonly names: readonly string[];
}

/** Maximum prices in USD: per million tokens, and per request. */
export interface PriceLimit {
  readonly prompt?: number | undefined;
  readonly completion?: number | undefined;
  readonly request?: number | undefined;
}

/** Timeouts in milliseconds. Absent ones are those of the configuration. */
export interface TimeLimits {
  /** Timeout of all attempts together. */
  readonly totalMs?: DurationMs | undefined;
  /** Timeout until the first content of a stream. */
  readonly firstTokenMs?: DurationMs | undefined;
  /** Longest pause after the first content. */
  readonly idleMs?: DurationMs | undefined;
}

/** Preferences of one level. Those of the request override those of the key, which override the configuration. */
export interface RoutingWishes {
  readonly type?: RoutingType | undefined;
  readonly factor?: RoutingFactor | undefined;
  /** Only these, in this order: provider or endpoint slugs. */
  readonly providers?: NameList | undefined;
  /** These first; the others may follow. */
  readonly prefer?: NameList | undefined;
  /** Only these, in any order. */
  readonly only?: NameList | undefined;
  readonly ignore?: NameList | undefined;
  /** True: only endpoints that support all parameters of the request. */
  readonly requireParameters?: boolean | undefined;
  readonly maxPrice?: PriceLimit | undefined;
  /** Failover to other endpoints. A list restricts it to providers, endpoints or models. */
  readonly fallback?: boolean | NameList | undefined;
  readonly streamSafety?: StreamSafety | undefined;
  /** True: a second attempt may start if the first one is slow. */
  readonly hedge?: boolean | undefined;
  readonly limits?: TimeLimits | undefined;
}

/** Preferences as configured in `routing.default` or on a key. */
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
 * Converts configured preferences.
 * @param path path of the configuration, e.g. `routing.default`; prefix of the path of every list of names
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

/** Strategy by name. */
export function toRoutingType(word: (typeof ROUTING_TYPES)[number]): RoutingType {
  return word === 'order' ? 'priority' : word;
}

/** Factor by name. */
export function toRoutingFactor(word: (typeof PRIMARY_FACTORS)[number]): RoutingFactor {
  return word === 'price' ? 'cost' : word;
}

/** Parses `fallback`: a boolean, possibly as text, or names. */
export function toFallback(value: boolean | string | readonly string[], path: string): boolean | NameList {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return toNameList(typeof value === 'string' ? [value] : value, path);
}

/** Names with their path, without duplicates. */
export function toNameList(names: readonly string[], path: string): NameList {
  return { path, names: [...new Set(names)] };
}

/** `model_routing_config`: choice among models for one request. */
export interface ModelRouting {
  readonly availableModels?: readonly string[] | undefined;
  /** Name of a strategy or a model. */
  readonly preference?: string | undefined;
  readonly taskType?: string | undefined;
  readonly complexity?: Complexity | undefined;
}
