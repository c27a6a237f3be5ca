// Cost factor: prefers a lower sum of input and output price, with cached input at its reduced price.
import { baseRate } from '../../../catalog/index.ts';
import type { Factor, Measured } from './factor.ts';

export const cost: Factor = {
  name: 'cost',
  measured: false,
  value(subject) {
    const price = blendedPrice(subject);
    // Free is the best value, and must remain comparable.
    return price === null ? null : 1 / Math.max(price, 1e-9);
  },
  describe(subject) {
    const price = blendedPrice(subject);
    return price === null ? 'price unknown' : `${round(price)} USD per million input and output tokens`;
  },
};

/** USD for one million input plus one million output tokens. Null: a price is unknown. */
function blendedPrice({ endpoint, health }: Measured): number | null {
  const { price } = endpoint;
  const input = baseRate(price?.input);
  const output = baseRate(price?.output);
  if (input === null || output === null) return null;
  const hits = health.cacheHitRate ?? 0;
  const cached = baseRate(price?.cacheRead) ?? input;
  return input * (1 - hits) + cached * hits + output;
}

function round(usd: number): number {
  return Number(usd.toPrecision(4));
}
