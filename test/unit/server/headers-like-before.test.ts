// Headers of whole answers are made out of those of the answer before: each answer has its own all the same.
import { expect, test } from 'bun:test';
import { headersLikeBefore } from '../../../src/server/headers-like-before.ts';

const answerWith = (given: Record<string, string>): Response =>
  new Response('', { headers: headersLikeBefore(given) });

const FIXED = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const shown = ({ headers }: Response): Record<string, string> => {
  const { 'content-type': _type, ...others } = Object.fromEntries(headers);
  return others;
};

test('each answer has the headers that it was given, and keeps them', () => {
  const given = [
    { 'x-request-id': 'one', 'x-lane': 'relay' },
    { 'x-request-id': 'two', 'x-lane': 'relay' },
    { 'x-request-id': 'two', 'x-report': 'lost' },
    { 'x-request-id': 'one', 'x-lane': 'translate' },
    { 'x-request-id': 'three' },
    { 'x-request-id': 'two', 'x-lane': 'translate' },
  ];
  const answers = given.map(answerWith);
  expect(answers.map(shown)).toEqual(given.map((own) => ({ ...FIXED, ...own })));
});

test('a header of its own stands in place of one that every answer has', () => {
  const own = { 'cache-control': 'max-age=60', 'x-request-id': 'one' };
  expect(shown(answerWith(own))).toEqual({ ...FIXED, ...own });
  const next = { 'cache-control': 'max-age=60', 'x-request-id': 'two' };
  expect(shown(answerWith(next))).toEqual({ ...FIXED, ...next });
});

test('what is no header is refused, and does not come back with the next answer', () => {
  answerWith({ 'x-refused': 'good', 'x-other': 'first' });
  expect(() => answerWith({ 'x-refused': 'bad\r\n', 'x-other': 'bad\r\nx: y' })).toThrow(TypeError);
  expect(shown(answerWith({ 'x-refused': 'good', 'x-other': 'second' }))).toEqual({
    ...FIXED,
    'x-refused': 'good',
    'x-other': 'second',
  });
});
