// How the console writes numbers and times, and which colours a chart gives to its names.
import { expect, test } from 'bun:test';
import { duration, limitWords, share, shortUsd } from '../../console/format/numbers.ts';
import { ago, ahead, since } from '../../console/format/times.ts';
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
])('%d ms are written as %p: no unit reaches the next one', (ms, written) => {
  expect(duration(ms)).toBe(written);
});

test.each([
  [0, '0 %'],
  [0.000_04, '<0.1 %'],
  [0.004, '0.4 %'],
  [0.58, '58 %'],
  [0.999_8, '>99.9 %'],
  [1, '100 %'],
])('the share %d is %p: a small share is not 0 %, and an incomplete one is not 100 %', (value, written) => {
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
])('%d USD are %p in a narrow place', (value, written) => {
  expect(shortUsd(value)).toBe(written);
});

const SPANS = [
  [45, '45 s'],
  [89, '89 s'],
  [90, '2 min'],
  [119, '2 min'],
  [149, '2 min'],
  [59.6 * 60, '1 h'],
  [100 * 60, '1 h 40 min'],
  [119.6 * 60, '2 h'],
  [3.6 * 3_600, '4 h'],
  [47.6 * 3_600, '2 d'],
  [71.9 * 3_600, '3 d'],
] as const;
const NOW = Date.parse('2026-11-29T12:00:00Z');
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

test.each(SPANS)('a time %d s ahead or ago is %p away, in the nearest unit', (seconds, written) => {
  expect(ahead(at(seconds), NOW)).toBe(`in ${written}`);
  expect(ago(at(-seconds), NOW)).toBe(`${written} ago`);
});

test('a time less than a second away, or on the other side of now, is now', () => {
  expect([ahead(at(0.9), NOW), ahead(at(-90), NOW)]).toEqual(['now', 'now']);
  expect([ago(at(-0.9), NOW), ago(at(90), NOW)]).toEqual(['now', 'now']);
});

test('a state shows when it began, and from one minute on also its duration', () => {
  expect(since(at(-59), NOW)).not.toContain('(');
  expect(since(at(-119), NOW)).toEndWith(' (2 min)');
});

test('each name of a chart has its own colour', () => {
  const names = ['kind invalid_request', 'kind not_found', 'kind content_filter'];
  const given = ['--color-series-2', '--color-series-4', '--color-series-5'];
  const colours = coloursOf(names, given);
  expect(new Set([...colours, ...given]).size).toBe(6);
});
