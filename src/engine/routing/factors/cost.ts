// Cheaper first: input and output price together, the input at the price that the upstream's
// cache leaves of it.
import type { Rate } from '../../../catalog/index.ts';
import type { Factor, Measured } from './factor.ts';

export const cost: Factor = {
  name: 'cost',
  measured: false,
  value(subject) {
    const price = blendedPrice(subject);
    // Free is as good as it gets, and still a number that others can be compared with.
    return price === null ? null : 1 / Math.max(price, 1e-9);
  },
  describe(subject) {
    const price = blendedPrice(subject);
    return price === null ? 'price unknown' : `${round(price)} USD per million tokens in and out`;
  },
};

/** USD per million input and million output tokens together; null when either is unknown. */
function blendedPrice({ endpoint, health }: Measured): number | null {
  const { price } = endpoint;
  const input = baseRate(price?.input);
  const output = baseRate(price?.output);
  if (input === null || output === null) return null;
  const hits = health.cacheHitRate ?? 0;
  const cached = baseRate(price?.cacheRead) ?? input;
  return input * (1 - hits) + cached * hits + output;
}

/** The rate of a small prompt: steps are for very large ones. */
export function baseRate(rate: Rate | undefined): number | null {
  if (rate === undefined) return null;
  return typeof rate === 'number' ? rate : rate.base;
}

function round(usd: number): number {
  return Number(usd.toPrecision(4));
}
