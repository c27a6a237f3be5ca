// Compiled grammars and schemas are kept for the next request, and not so many of them that large ones fill the memory.
import { expect, test } from 'bun:test';
import { compileSchema } from '../../../src/engine/adapt/schema-validator.ts';
import { compileGrammar } from '../../../src/engine/grammar/index.ts';

const grammar = (text: string): object => compileGrammar('regex', text, 'format.definition');
/** As large as a grammar may be, nearly. */
const large = (mark: number): object => grammar(`${'ab'.repeat(19_500)}${mark}`);
const schema = (mark: string, keywords: object): object =>
  compileSchema({ type: 'object', title: mark, ...keywords }, 'schema');

test('a grammar is compiled once while it is in use', () => {
  const known = Array.from({ length: 20 }, (_, mark) => grammar(`small${mark}`));
  expect(large(0)).toBe(large(0));
  known.forEach((each, mark) => expect(grammar(`small${mark}`)).toBe(each));
});

test('large grammars displace each other', () => {
  const first = large(1);
  const [second, third] = [large(2), large(3)];
  expect(large(3)).toBe(third);
  expect(large(2)).toBe(second);
  expect(large(1)).not.toBe(first);
});

test.each([
  ['patterns', { pattern: '[ab]'.repeat(20_000) }],
  ['objects', { anyOf: Array.from({ length: 2_500 }, (_, at) => ({ const: at })) }],
])('schemas of large %s replace each other, too', (what, keywords) => {
  const small = schema(`${what} small`, {});
  const first = schema(`${what} 1`, keywords);
  expect(schema(`${what} 1`, keywords)).toBe(first);
  expect(schema(`${what} small`, {})).toBe(small);
  for (const mark of [2, 3, 4, 5]) schema(`${what} ${mark}`, keywords);
  const last = schema(`${what} 6`, keywords);
  expect(schema(`${what} 6`, keywords)).toBe(last);
  expect(schema(`${what} 1`, keywords)).not.toBe(first);
});
