// Prices as data: the lookup finds what the library's own finds, newer data goes over older without making anything free or
// unknown, and data that is not small and harmless is refused.
import { describe, expect, test } from 'bun:test';
import { calcPrice, waitForUpdate } from '@pydantic/genai-prices';
import { bookOver, BUNDLED_PRICES, keptBook, type Vendor } from '../../../src/catalog/index.ts';
import { findPriced, isList, pricesAt } from '../../../src/catalog/price-data.ts';
import { libraryModel, libraryModels } from '../../../src/catalog/prices.ts';
import { checkPriceData } from '../../../src/app/config/schema/price-data-schema.ts';
import { GatewayError } from '../../../src/canonical/index.ts';

const bundled = (await waitForUpdate()) ?? [];
const NOW = Date.parse('2026-11-22T12:00:00Z');
const now = (): number => NOW;

function parsePriceData(text: string): readonly Vendor[] {
  const slices = checkPriceData(text);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

test('a name finds the model and the prices that the library itself finds', () => {
  const names = bundled.flatMap(({ models }) => models.map(({ id }) => id));
  const tried = [
    ...names,
    'claude-sonnet-4-5-20250929',
    'gpt-4o-2024-08-06',
    'ft:gpt-4o:us::x',
    'no-such',
    '',
  ];
  let found = 0;
  for (const { id } of bundled.filter((vendor) => vendor.id !== 'litellm')) {
    const vendor = BUNDLED_PRICES.vendor(id);
    if (!vendor) throw new Error(id);
    const own = new Set(vendor.models.map((model) => model.id));
    for (const name of tried.filter((each, at) => own.has(each) || at % 37 === 0 || at >= names.length)) {
      const ours = findPriced(BUNDLED_PRICES, vendor, name);
      const theirs = calcPrice({}, name, { providerId: id, timestamp: new Date(NOW) });
      expect(`${id} ${name}: ${ours?.id}`).toBe(`${id} ${name}: ${theirs?.model.id}`);
      if (!ours || !theirs) continue;
      found++;
      expect(pricesAt(ours, NOW)).toEqual(theirs.model_price);
      if (isList(ours.prices))
        for (let hour = 0; hour < 24; hour++) {
          const time = Date.parse('2027-03-01T00:30:00Z') + hour * 3_600_000;
          const then = calcPrice({}, name, { providerId: id, timestamp: new Date(time) });
          expect(pricesAt(ours, time)).toEqual(then?.model_price ?? {});
        }
    }
  }
  expect(found).toBeGreaterThan(500);
});

test('data is checked a little at a time', () => {
  const slices = checkPriceData(JSON.stringify(bundled));
  let pauses = 0;
  while (slices.next().done !== true) pauses++;
  const models = bundled.reduce((sum, each) => sum + each.models.length, 0);
  expect(pauses).toBeGreaterThan(models / 40);
});

test('the data that came with the gateway is data that a source may give', () => {
  const vendors = parsePriceData(JSON.stringify(bundled));
  expect(vendors.length).toBe(bundled.length);
  const book = bookOver(BUNDLED_PRICES, vendors, 'catalog 2026-11-22 abc');
  for (const { id } of vendors)
    expect(libraryModels(id, now, book).map(({ name, price }) => [name, { ...price(), source: '' }])).toEqual(
      libraryModels(id, now).map(({ name, price }) => [name, { ...price(), source: '' }]),
    );
});

const model = (id: string, prices: object): object => ({ id, match: { equals: id }, prices });
const vendor = (...models: object[]): readonly Vendor[] =>
  parsePriceData(JSON.stringify([{ id: 'openai', models }]));
const NONE = { ...BUNDLED_PRICES, version: 'v0', vendor: () => undefined };

describe('a source that loses prices', () => {
  const first = bookOver(NONE, vendor(model('a', { input_mtok: 2, output_mtok: 8 })), 'v1');
  const priceIn = (book: typeof first, id = 'a') => libraryModel('openai', id, now, book)?.price();

  test.each([
    ['the model', [model('b', { input_mtok: 1 })], { input: 2, output: 8, source: 'v1' }],
    [
      'all prices',
      [model('a', {})],
      { input: 2, output: 8, source: 'v2; kept: input_mtok of v1, output_mtok of v1' },
    ],
    [
      'a price',
      [model('a', { input_mtok: 3 })],
      { input: 3, output: 8, source: 'v2; kept: output_mtok of v1' },
    ],
    [
      'a price as null',
      [model('a', { input_mtok: 3, output_mtok: null })],
      { input: 3, output: 8, source: 'v2; kept: output_mtok of v1' },
    ],
    [
      'a price of zero',
      [model('a', { input_mtok: 0, output_mtok: 9 })],
      { input: 2, output: 9, source: 'v2; kept: input_mtok of v1' },
    ],
    [
      'what prices were, by date',
      [model('a', [{ prices: {} }])],
      { input: 2, output: 8, source: 'v2; kept: input_mtok of v1, output_mtok of v1' },
    ],
  ])('%s keeps the known price, and marks it', (_, models, price) => {
    expect(priceIn(bookOver(first, vendor(...models), 'v2'))).toEqual({ ...price, isKept: true });
  });

  test('keeps the price of a missing vendor, twice, and after a restart', () => {
    const other = parsePriceData(JSON.stringify([{ id: 'other', models: [model('x', { input_mtok: 1 })] }]));
    const second = bookOver(first, other, 'v2');
    const third = bookOver(second, other, 'v3');
    for (const book of [second, third, keptBook(NONE, third.vendors(), 'v3')])
      expect(priceIn(book)).toEqual({ input: 2, output: 8, source: 'v1', isKept: true });
  });

  test('is used again when it has them', () => {
    const second = bookOver(first, vendor(model('a', { input_mtok: 3 })), 'v2');
    const third = bookOver(second, vendor(model('a', { input_mtok: 3, output_mtok: 7 })), 'v3');
    expect(priceIn(third)).toEqual({ input: 3, output: 7, source: 'v3' });
  });

  test('does not take the names of other models', () => {
    const wide = [{ id: 'old', match: { starts_with: 'a' }, prices: { input_mtok: 5 } }];
    const second = bookOver(
      bookOver(NONE, vendor(...wide), 'v1'),
      vendor(model('ab', { input_mtok: 1 })),
      'v2',
    );
    expect(priceIn(second, 'ab')).toMatchObject({ input: 1 });
    expect(priceIn(second, 'ac')).toMatchObject({ input: 5, isKept: true });
  });
});

test('a price of zero is accepted if no other was known', () => {
  const book = bookOver(NONE, vendor(model('a:free', { input_mtok: 0, output_mtok: 0 })), 'v1');
  expect(libraryModel('openai', 'a:free', now, book)?.price()).toEqual({ input: 0, output: 0, source: 'v1' });
});

const one = (over: object): string =>
  JSON.stringify([{ id: 'openai', models: [{ ...model('a', { input_mtok: 1 }), ...over }] }]);
test.each([
  ['no JSON', '<html>', 'is no JSON'],
  ['an object', '{}', 'must be an array, not an object'],
  ['no vendors', '[]', 'has no vendors'],
  ['a vendor twice', '[{"id":"a","models":[]},{"id":"a","models":[]}]', 'twice'],
  ['a negative price', one({ prices: { input_mtok: -1 } }), '[0].models[0].prices'],
  ['a price as text', one({ prices: { input_mtok: '1' } }), '[0].models[0].prices'],
  ['a price beyond belief', one({ prices: { input_mtok: 1e9 } }), '[0].models[0].prices'],
  ['no prices', one({ prices: undefined }), '[0].models[0].prices'],
  ['no rule', one({ match: {} }), '[0].models[0].match'],
  ['an unknown condition', one({ prices: [{ constraint: { moon: 'full' }, prices: {} }] }), 'prices'],
  ['a pattern that takes long', one({ match: { regex: '^(a+)+$' } }), 'match'],
  ['a pattern of many repetitions', one({ match: { regex: 'a.*b.*c.*d' } }), 'match'],
  ['an invalid pattern', one({ match: { regex: '(' } }), 'match'],
  [
    'endlessly nested rules',
    one({ match: { or: 'x' } }).replace('"x"', '[{"or":'.repeat(40) + '[]' + '}]'.repeat(40)),
    'nests deeper',
  ],
  ['an endless name', one({ id: 'a'.repeat(300) }), '[0].models[0].id'],
])('%s is refused', (_, text, words) => {
  let message = '';
  try {
    parsePriceData(text);
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    ({ message } = error);
  }
  expect(message).toContain(words);
});
