// The table of a protocol's request members: one more row is all that a parameter needs to be read, refused, written,
// described and named.
import { expect, test } from 'bun:test';
import { Problems, Report, type CanonicalRequest, type Target } from '../../../src/canonical/index.ts';
import { atMost, FieldTable, schemaOf, type Field } from '../../../src/protocols/members/field-table.ts';
import { integer, number, literal, strings, oneOf } from '../../../src/protocols/members/read-member.ts';

const ROWS: readonly Field<'supported'>[] = [
  { name: 'stops', support: 'supported', note: 'Strings.', to: 'stop', is: strings(2) },
  {
    name: 'heat',
    support: 'supported',
    note: '0 or more.',
    to: 'temperature',
    is: number(0),
    write: atMost('temperature', 2, 'the maximum temperature is 2'),
  },
  { name: 'count', support: 'supported', note: 'Only 1.', is: literal(1) },
];
const ADDED: Field<'supported'> = {
  name: 'top',
  support: 'supported',
  note: '0 to 5.',
  to: 'topK',
  is: integer(0, 5),
};
const BEFORE = new FieldTable(ROWS);
const AFTER = new FieldTable([...ROWS, ADDED]);

function written(table: FieldTable<'supported'>, request: Partial<CanonicalRequest>): [object, Report] {
  const body = {};
  const report = new Report();
  table.write(body, { request: request as CanonicalRequest, target: {} as Target, report });
  return [body, report];
}

function problemsOf(
  table: FieldTable<'supported'>,
  body: Record<string, string | number | string[]>,
): string[] {
  const problems = new Problems();
  table.check(body, problems);
  table.read(body, problems);
  return problems.list.map(({ path, message }) => `${path}: ${message}`);
}

test('a row more is read, refused out of range, written, described, named, and no longer lacking', () => {
  expect(BEFORE.read({ top: 3 }, new Problems())).not.toHaveProperty('topK');
  expect(AFTER.read({ top: 3 }, new Problems())).toMatchObject({ topK: 3 });
  expect(problemsOf(BEFORE, { top: 6 })).toEqual([]);
  expect(problemsOf(AFTER, { top: 6 })).toEqual(['top: must be an integer from 0 to 5']);
  expect(written(BEFORE, { topK: 3 })[0]).toEqual({});
  expect(written(AFTER, { topK: 3 })[0]).toEqual({ top: 3 });
  expect(BEFORE.lacks.has('topK')).toBe(true);
  expect(AFTER.lacks.has('topK')).toBe(false);
  expect(AFTER.names).toMatchObject({ top_k: ['top'], stop: ['stops'] });
  expect(AFTER.schema['properties']).toMatchObject({
    top: { type: ['integer', 'null'], minimum: 0, maximum: 5, description: '0 to 5.' },
  });
});

test('settings are read and written in the order of the canonical request, for any order of the rows', () => {
  const body = { top: 1, stops: ['a'], heat: 0.5 };
  expect(Object.keys(AFTER.read(body, new Problems()))).toEqual(['temperature', 'topK', 'stop']);
  const [wire] = written(AFTER, { stop: ['a'], topK: 1, temperature: 0.5 });
  expect(JSON.stringify(wire)).toBe('{"heat":0.5,"top":1,"stops":["a"]}');
});

test('a missing value has no member, and a value that is too large is clamped with a report', () => {
  expect(written(AFTER, {})[0]).toEqual({});
  const [body, report] = written(AFTER, { temperature: 3.5 });
  expect(body).toEqual({ heat: 2 });
  expect(report.entries).toEqual([
    { path: 'temperature', action: 'clamped', reason: 'the maximum temperature is 2' },
  ]);
});

test('members without a parameter are checked', () => {
  expect(problemsOf(AFTER, { count: 2, stops: ['a', 'b', 'c'] })).toEqual([
    'count: only 1 is supported',
    'stops: must have at most 2 sequences',
  ]);
});

test('a table inside another member names whole paths', () => {
  const nested = new FieldTable(ROWS, { at: 'config' });
  expect(problemsOf(nested, { heat: -1 })).toEqual(['config.heat: must be a number of at least 0']);
  expect(nested.names).toMatchObject({ temperature: ['config.heat'] });
});

test('a member that only some servers support is written, and still reported as unsupported', () => {
  const table = new FieldTable(ROWS, {
    foreign: [{ name: 'top_k', support: 'supported', note: '', to: 'topK', is: integer() }],
  });
  expect(written(table, { topK: 7 })[0]).toEqual({ top_k: 7 });
  expect(table.lacks.has('topK')).toBe(true);
  expect(table.named('supported').has('top_k')).toBe(false);
});

test('null is documented if it means absence', () => {
  const field: Field<'supported'> = { name: 'a', support: 'supported', note: '', is: oneOf('low', 'high') };
  expect(schemaOf(field)).toEqual({ type: ['string', 'null'], enum: ['low', 'high', null] });
});
