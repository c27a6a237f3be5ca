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
  ['', 'write it as'],
  ['requests 60', 'write it as'],
  ['60 beans', 'write it as'],
  ['6e1 requests', 'write it as'],
  ['-1 requests', 'write it as'],
  ['1.5 requests', 'a whole number'],
  ['0 tokens', 'a whole number'],
  ['0 usd', 'an amount above 0'],
  ['99999999999999 usd', 'an amount above 0'],
  ['5 usd sometimes', '"sometimes" means nothing here'],
  ['5 usd per', '"per" needs something behind it'],
  ['5 usd per day per week', '"per" stands there twice'],
  ['5 usd per year', '`per` must be'],
  ['5 usd per 5h timezone UTC', '`timezone` goes with'],
  ['5 concurrent per day', '`concurrent` has no window'],
  ['5 usd each key', 'behind "each" stands end_user'],
  ['5 requests when_spent finish', 'only budgets'],
  ['5 usd constructor x', '"constructor" means nothing here'],
])('%p is refused: %s', (text, reason) => {
  expect(() => parseLimit(text)).toThrow(reason);
});

test('any text is read or refused in words', () => {
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
