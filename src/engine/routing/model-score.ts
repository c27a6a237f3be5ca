// Scores models by quality, price and speed. The weights are defined here.
import type { JsonObject } from '../../base/json/index.ts';
import type { Complexity, ModelStrategy } from '../../canonical/index.ts';
import type { Endpoint, Model, ResolvedModel } from '../../catalog/index.ts';
import { factorOf } from './factors/index.ts';
import { countEmulated } from './model-fit.ts';
import type { PlanContext } from './plan-types.ts';
import type { RequestFacts } from './request-facts.ts';

export interface Weights {
  readonly quality: number;
  readonly cheapness: number;
  readonly speed: number;
}

/** Each row sums to 1. Between two models, `low` selects the cheaper and `high` the stronger, however fast they are. */
const WEIGHTS: Readonly<Record<Complexity, Weights>> = {
  low: { quality: 0.15, cheapness: 0.7, speed: 0.15 },
  medium: { quality: 0.45, cheapness: 0.4, speed: 0.15 },
  high: { quality: 0.75, cheapness: 0.1, speed: 0.15 },
};

/** Weights of a strategy override the complexity; `balanced` keeps it. */
const STRATEGY_WEIGHTS: Readonly<Record<ModelStrategy, Complexity | null>> = {
  price: 'low',
  performance: 'high',
  balanced: null,
};

/** Multiplied for each feature that must be emulated. */
const EMULATION = 0.8;
/** Minimum price, so that free is not infinitely cheaper. USD per million tokens of input and output. */
const CHEAPEST = 0.01;
/** Time for an answer of typical length that equals an unknown speed. */
const NEUTRAL_MS = 10_000;
const UNKNOWN_SPEED = 0.5;

/** A suitable model, with the endpoints that can serve the request. */
export interface Contender extends ResolvedModel {
  readonly endpoints: readonly Endpoint[];
}

export interface Weighed {
  readonly contender: Contender;
  /** From 0 to 1. */
  readonly score: number;
  /** From 0 to 1 each, before weighing. */
  readonly measures: Weights;
}

export function weightsFor(complexity: Complexity | undefined, strategy: ModelStrategy | undefined): Weights {
  return WEIGHTS[(strategy && STRATEGY_WEIGHTS[strategy]) ?? complexity ?? 'medium'];
}

/**
 * Scores models, best first. Models whose endpoints are all unavailable come last, and equal scores are ordered by id.
 *
 * `quality` is the operator's score, scaled from the weakest to the strongest candidate. Without a score, a model
 * counts as half the weakest; if none has one, the rank by price is used, because vendors price by strength.
 * `cheapness` falls with the logarithm of the price; an unknown price counts as the highest price and the lowest
 * quality. `speed` is 1 ÷ (1 + seconds ÷ 10) for an answer of 500 tokens, or 0.5 if not measured. The score is the
 * weighted sum of square roots (two good values beat one best value), times 0.8 for each emulated feature.
 */
export function weighModels(
  contenders: readonly Contender[],
  weights: Weights,
  facts: RequestFacts,
  stream: boolean,
  context: PlanContext,
): readonly Weighed[] {
  const measured = contenders.map((contender) => measure(contender, stream, context));
  const prices = known(measured.map(({ logPrice }) => logPrice));
  const scores = known(measured.map(({ quality }) => quality));
  const cheapness = spread(prices.map((price) => -price));
  const unscored = Math.min(...scores) / 2;
  const strength =
    scores.length > 0 ? spread(scores.length < measured.length ? [...scores, unscored] : scores) : null;
  const rank = strength ? null : ranks(prices);
  const weighed = measured.map(
    ({ contender, logPrice, quality, speed, admitted }): Weighed & { readonly order: number } => {
      const measures: Weights = {
        quality: strength ? strength(quality ?? unscored) : logPrice === null ? 0 : (rank?.(logPrice) ?? 0),
        cheapness: logPrice === null ? 0 : cheapness(-logPrice),
        speed,
      };
      const sum =
        weights.quality * Math.sqrt(measures.quality) +
        weights.cheapness * Math.sqrt(measures.cheapness) +
        weights.speed * Math.sqrt(measures.speed);
      const score = sum * EMULATION ** countEmulated(contender.endpoints, facts);
      return { contender, score, measures, order: admitted ? score : score - 1 };
    },
  );
  return weighed.sort((a, b) => b.order - a.order || byId(a.contender.model, b.contender.model));
}

/** Weights or measures for a route table. */
export function weightsTable({ quality, cheapness, speed }: Weights): JsonObject {
  return { quality, cheapness, speed };
}

/** Rounded measures of a model for a route table. */
export function roundedMeasures({ quality, cheapness, speed }: Weights): JsonObject {
  const rounded = (value: number): number => Number(value.toFixed(3));
  return { quality: rounded(quality), cheapness: rounded(cheapness), speed: rounded(speed) };
}

/** Measures of a model as text. */
export function describeMeasures({ quality, cheapness, speed }: Weights): string {
  return `quality ${quality.toFixed(2)}, cheapness ${cheapness.toFixed(2)}, speed ${speed.toFixed(2)}`;
}

interface Measures {
  readonly contender: Contender;
  /** Logarithm of USD per million tokens of input and output at the cheapest endpoint. Null: unknown. */
  readonly logPrice: number | null;
  readonly quality: number | null;
  readonly speed: number;
  readonly admitted: boolean;
}

const cost = factorOf('cost');
const speedFactor = factorOf('speed');

function measure(contender: Contender, stream: boolean, { state, nowMs }: PlanContext): Measures {
  const { model, endpoints } = contender;
  let cheap: number | null = null;
  let fast: number | null = null;
  let quality: number | null = null;
  let admitted = false;
  for (const endpoint of endpoints) {
    const subject = { endpoint, model, health: state.health(endpoint), nowMs, stream };
    cheap = better(cheap, cost.value(subject));
    fast = better(fast, speedFactor.value(subject));
    quality = model.quality ?? better(quality, endpoint.quality);
    admitted ||= state.admits(endpoint);
  }
  return {
    contender,
    logPrice: cheap === null ? null : Math.log(Math.max(1 / cheap, CHEAPEST)),
    quality,
    speed: fast === null ? UNKNOWN_SPEED : 1 / (1 + 1 / fast / NEUTRAL_MS),
    admitted,
  };
}

function known(numbers: readonly (number | null)[]): readonly number[] {
  return numbers.filter((number) => number !== null);
}

function better(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}

/** Scales numbers linearly so that the smallest is 0 and the largest 1; all are 1 if equal. */
function spread(numbers: readonly number[]): (value: number) => number {
  const low = Math.min(...numbers);
  const range = Math.max(...numbers) - low;
  return (value) => (range > 0 ? (value - low) / range : 1);
}

/** Maps numbers to their rank among distinct values: 0 for the smallest, 1 for the largest. */
function ranks(numbers: readonly number[]): (value: number) => number {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const places = new Map(
    sorted.map((value, index) => [value, sorted.length > 1 ? index / (sorted.length - 1) : 1]),
  );
  return (value) => places.get(value) ?? 0;
}

function byId(a: Model, b: Model): number {
  return a.id < b.id ? -1 : 1;
}
