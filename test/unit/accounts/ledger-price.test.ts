// From tokens to money: worked examples, and properties over arbitrary usages and prices.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { NO_USAGE, type Usage } from '../../../src/canonical/index.ts';
import type { Price } from '../../../src/catalog/price.ts';
import { costOf, sumCosts } from '../../../src/accounts/ledger/price.ts';

function usage(
  input: Partial<Usage['input']>,
  output: Partial<Usage['output']> = {},
  tools: Usage['tools'] = {},
): Usage {
  return {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, ...input },
    output: { ...NO_USAGE.output, ...output },
    tools,
  };
}
const SONNET: Price = {
  input: 3,
  output: 15,
  cacheRead: 0.3,
  cacheWrite5m: 3.75,
  cacheWrite1h: 6,
  source: 'test',
};

test('every class is charged once, at its own rate', () => {
  const cost = costOf(
    usage(
      { uncached: 1_000, cacheRead: 20_000, cacheWrite5m: 400, cacheWrite1h: 100 },
      { text: 300, reasoning: 200 },
    ),
    SONNET,
  );
  expect(cost.items).toEqual({
    input: 0.003,
    cache_read: 0.006,
    cache_write_5m: 0.0015,
    cache_write_1h: 0.0006,
    output: 0.0075,
  });
  expect(cost.usd).toBe(0.0186);
  expect(cost.price).toEqual({
    input: 3,
    output: 15,
    cache_read: 0.3,
    cache_write_5m: 3.75,
    cache_write_1h: 6,
    source: 'test',
  });
});

test('a class without a rate is charged at its parent rate', () => {
  const price: Price = { input: 1, output: 4, source: 'test' };
  expect(
    costOf(
      usage(
        { cacheRead: 10, cacheWrite5m: 20, cacheWrite1h: 30, audio: 40, image: 50 },
        { reasoning: 5, audio: 6 },
      ),
      price,
    ).usd,
  ).toBe(0.000194);
  expect(costOf(usage({ cacheWrite1h: 1_000_000 }), { ...price, cacheWrite5m: 1.25 }).usd).toBe(1.25);
  expect(
    costOf(usage({}, { reasoning: 1_000_000, text: 1_000_000 }), { ...price, outputReasoning: 8 }).usd,
  ).toBe(12);
  expect(
    costOf(usage({ audio: 1_000_000, image: 1_000_000 }), { ...price, inputAudio: 10, inputImage: 20 }).items,
  ).toEqual({ input: 30 });
});

test('steps go by all tokens of the prompt, and apply above their border only', () => {
  const price: Price = {
    input: {
      base: 1.25,
      steps: [
        { above: 200_000, rate: 2.5 },
        { above: 500_000, rate: 5 },
      ],
    },
    output: { base: 10, steps: [{ above: 200_000, rate: 15 }] },
    source: 'test',
  };
  expect(costOf(usage({ uncached: 200_000 }, { text: 1_000_000 }), price).usd).toBe(10.25);
  const above = costOf(usage({ uncached: 100_000, cacheRead: 100_001 }, { text: 1_000_000 }), price);
  expect(above.usd).toBe(15.5000025);
  expect(above.price).toEqual({ input: 2.5, output: 15, source: 'test' });
  expect(costOf(usage({ uncached: 1_000_000 }), price).usd).toBe(5);
});

test('unknown is null and never zero', () => {
  expect(costOf(usage({ uncached: 5 }), null)).toEqual({ usd: null, items: {}, price: null });
  expect(costOf(usage({ uncached: 5 }, { text: 5 }), { input: 1, source: 'test' })).toMatchObject({
    usd: null,
    items: { input: 0.000005 },
  });
  expect(costOf(usage({ uncached: 5 }), { input: 1, source: 'test' }).usd).toBe(0.000005);
  expect(costOf(usage({}, {}, { web_search: 1 }), SONNET).usd).toBeNull();
  expect(costOf(usage({}, {}, { toString: 1 }), { ...SONNET, tools: {} }).usd).toBeNull();
  expect(costOf(usage({}, {}, { web_search: 0 }), SONNET).usd).toBe(0);
});

test('a free model has a known price of zero', () => {
  expect(
    costOf(usage({ uncached: 5 }, { text: 5 }), { input: 0, output: 0, source: 'config' }),
  ).toMatchObject({ usd: 0, items: { input: 0, output: 0 } });
});

test('requests and tools are charged by the piece', () => {
  const cost = costOf(usage({}, {}, { web_search: 3, code: 2 }), {
    ...SONNET,
    request: 0.005,
    tools: { web_search: 0.01, code: 0.03 },
  });
  expect(cost).toMatchObject({ usd: 0.095, items: { tools: 0.09, request: 0.005 } });
});

test('sums contain no floating-point errors', () => {
  const price: Price = { input: 0.1, output: 0.2, source: 'test' };
  expect(costOf(usage({ uncached: 1_000_000 }, { text: 1_000_000 }), price).usd).toBe(0.3);
});

test('the sum of attempts: uncharged ones count nothing, an unknown one makes it unknown', () => {
  const one = costOf(usage({ uncached: 1_000 }), SONNET);
  const other = costOf(usage({ uncached: 1_000 }), { ...SONNET, input: 1, source: 'other' });
  expect(sumCosts([])).toEqual({ usd: 0, items: {}, price: null });
  expect(sumCosts([null, one])).toBe(one);
  expect(sumCosts([one, null, one])).toEqual({ usd: 0.006, items: { input: 0.006 }, price: one.price });
  expect(sumCosts([one, other])).toEqual({
    usd: 0.004,
    items: { input: 0.004 },
    price: [one.price, other.price],
  });
  expect(sumCosts([one, costOf(usage({ uncached: 1 }), null)])).toMatchObject({
    usd: null,
    items: { input: 0.003 },
  });
});

const tokens = fc.integer({ min: 0, max: 2_000_000 });
const rate = fc.integer({ min: 0, max: 2_000_000 }).map((n) => n / 10_000);
const arbitraryUsage = fc
  .record({
    input: fc.record({
      uncached: tokens,
      cacheRead: tokens,
      cacheWrite5m: tokens,
      cacheWrite1h: tokens,
      audio: tokens,
      image: tokens,
    }),
    output: fc.record({ text: tokens, reasoning: tokens, audio: tokens }),
  })
  .map((parts) => ({ ...NO_USAGE, ...parts }));
const arbitraryPrice: fc.Arbitrary<Price> = fc.record(
  {
    input: rate,
    output: rate,
    cacheRead: rate,
    cacheWrite5m: rate,
    cacheWrite1h: rate,
    inputAudio: rate,
    outputAudio: rate,
    source: fc.constant('test'),
  },
  { requiredKeys: ['input', 'output', 'source'] },
);

test('conservation: with one rate for all, cost is tokens times rate however they are divided', () => {
  fc.assert(
    fc.property(arbitraryUsage, rate, (u, r) => {
      const all = [...Object.values(u.input), ...Object.values(u.output)].reduce((a, b) => a + b, 0);
      const cost = costOf(u, { input: r, output: r, source: 'test' });
      expect(cost.usd).toBeCloseTo((all * r) / 1e6, 9);
    }),
  );
});

test('conservation: items add up to the total, and attempts to the generation', () => {
  fc.assert(
    fc.property(arbitraryUsage, arbitraryUsage, arbitraryPrice, (a, b, price) => {
      const [x, y] = [costOf(a, price), costOf(b, price)];
      expect(Object.values(x.items).reduce((sum, item) => sum + item, 0)).toBeCloseTo(x.usd ?? -1, 9);
      expect(sumCosts([x, y]).usd).toBeCloseTo((x.usd ?? -1) + (y.usd ?? -1), 9);
    }),
  );
});

test('more tokens of any class never cost less', () => {
  fc.assert(
    fc.property(
      arbitraryUsage,
      arbitraryPrice,
      fc.constantFrom('input' as const, 'output' as const),
      fc.nat(8),
      tokens,
      (u, price, side, which, more) => {
        const classes = Object.keys(u[side]);
        const name = classes[which % classes.length] ?? '';
        const larger = {
          ...u,
          [side]: { ...u[side], [name]: (u[side] as Record<string, number>)[name]! + more },
        };
        expect(costOf(larger as Usage, price).usd ?? -1).toBeGreaterThanOrEqual(
          costOf(u, price).usd ?? Infinity,
        );
      },
    ),
  );
});
