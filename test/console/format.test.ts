// How the console writes numbers and times, and which colours a chart gives to its names.
import { expect, test } from 'bun:test';
import { duration, limitWords, share, shortUsd } from '../../console/format/numbers.ts';
import { ahead } from '../../console/format/times.ts';
import { coloursOf } from '../../console/ui/chart/colours.ts';

test.each([
  [0, '0 ms'],
  [9.96, '10 ms'],
  [999.6, '1.00 s'],
  [9_996, '10.0 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [3_599_800, '1 h 0 min'],
  [7_199_000, '2 h 0 min'],
])('%d ms are written as %p: no unit is full', (ms, written) => {
  expect(duration(ms)).toBe(written);
});

test.each([
  [0, '0 %'],
  [0.000_04, '<0.1 %'],
  [0.004, '0.4 %'],
  [0.58, '58 %'],
  [0.999_8, '>99.9 %'],
  [1, '100 %'],
])('the share %d is %p: a little is not nothing, and almost all is not all', (value, written) => {
  expect(share(value)).toBe(written);
});

test.each([
  ['$123456.78 per month', '$123,456.78 per month'],
  ['$0.00009 per day', '$0.00009 per day'],
  ['100000 requests per minute for acme/m-20250101', '100,000 requests per minute for acme/m-20250101'],
])('the limit %p is written as %p', (text, written) => {
  expect(limitWords(text)).toBe(written);
});

test.each([
  [0.000_075, '$0.000075'],
  [0.1, '$0.10'],
  [999, '$999.00'],
  [1_500, '$1.5K'],
  [2_583_567.1, '$2.6M'],
])('%d USD are %p where there is no room for more', (value, written) => {
  expect(shortUsd(value)).toBe(written);
});

test.each([
  [0.9, 'now'],
  [45, 'in 45 s'],
  [89, 'in 89 s'],
  [90, 'in 2 min'],
  [59.6 * 60, 'in 1 h'],
  [100 * 60, 'in 1 h 40 min'],
  [119.6 * 60, 'in 2 h'],
  [3.6 * 3_600, 'in 4 h'],
  [47.6 * 3_600, 'in 2 d'],
  [71.9 * 3_600, 'in 3 d'],
])('a time %d s ahead is %p: it is never much later than that', (seconds, written) => {
  const now = Date.parse('2026-11-29T12:00:00Z');
  expect(ahead(new Date(now + seconds * 1_000).toISOString(), now)).toBe(written);
});

test('names of a chart have colours of their own, and none that another one was given', () => {
  const names = ['kind invalid_request', 'kind not_found', 'kind content_filter'];
  const given = ['--color-series-2', '--color-series-4', '--color-series-5'];
  const colours = coloursOf(names, given);
  expect(new Set([...colours, ...given]).size).toBe(6);
});
