// Limits in one line, as they are typed.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type LimitEntry, limitWords, parseLimit } from '../../../src/accounts/limits/index.ts';

test.each<[string, LimitEntry]>([
  ['60 requests per minute', { requests: 60, per: 'minute' }],
  ['1 request per second', { requests: 1, per: 'second' }],
  ['2000000 tokens', { tokens: 2_000_000 }],
  [' 20  concurrent ', { concurrent: 20 }],
  ['0.5 usd per 7d', { usd: 0.5, per: '7d' }],
  [
    '60 requests for openai/*,groq/* each end_user',
    { requests: 60, models: ['openai/*', 'groq/*'], each: 'end_user' },
  ],
  [
    '5 usd unpriced allow when_spent finish timezone Europe/Berlin per month',
    { usd: 5, per: 'month', timezone: 'Europe/Berlin', when_spent: 'finish', unpriced: 'allow' },
  ],
])('%p', (text, entry) => {
  expect(parseLimit(text)).toEqual(entry);
  expect(parseLimit(limitWords(entry))).toEqual(entry);
});

test.each([
  ['', 'must be `60 requests'],
  ['requests 60', 'must be `60 requests'],
  ['60 beans', 'must be `60 requests'],
  ['6e1 requests', 'must be `60 requests'],
  ['-1 requests', 'must be `60 requests'],
  ['1.5 requests', 'must be an integer of at least 1'],
  ['0 tokens', 'must be an integer of at least 1'],
  ['0 usd', 'more than 0'],
  ['99999999999999 usd', 'more than 0'],
  ['5 usd sometimes', 'unknown word "sometimes"'],
  ['5 usd per', '"per" requires a value'],
  ['5 usd per day per week', '"per" occurs more than once'],
  ['5 usd per year', '`per` must be'],
  ['5 usd per 5h timezone UTC', '`timezone` requires'],
  ['5 concurrent per day', '`concurrent` has no window'],
  ['5 usd each key', '"each" must be followed by end_user'],
  ['5 requests when_spent finish', 'allowed only for budgets'],
  ['5 usd constructor x', 'unknown word "constructor"'],
])('%p is refused: %s', (text, reason) => {
  expect(() => parseLimit(text)).toThrow(reason);
});

test('any text is parsed, or refused with a reason', () => {
  const word = fc.constantFrom('5', 'usd', 'requests', 'per', 'day', 'for', 'a/*,b', 'each', 'end_user', 'x');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      try {
        const entry = parseLimit(words.join(' '));
        expect(parseLimit(limitWords(entry))).toEqual(entry);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
  );
});
