import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { editMembers, topLevelMembers } from '../../../src/protocols/relay/json-splice.ts';
import { casesOf } from '../../support/share.ts';
import { OBJECT } from '../../support/any-object.ts';

test('only the named members change; every other byte stays', () => {
  const text = '{ "a" : [1,{"model":"inner"}], "model":"x\\"y" ,\n"n":1.50e3,"last":{"provider":1} }';
  expect(editMembers(text, { set: { model: 'z' } })).toBe(
    '{ "a" : [1,{"model":"inner"}], "model":"z" ,\n"n":1.50e3,"last":{"provider":1} }',
  );
  expect(editMembers(text, { set: {}, remove: ['last', 'a'] })).toBe('{ "model":"x\\"y" ,\n"n":1.50e3 }');
  expect(editMembers(text, { set: { b: 'é' }, remove: ['model'] })).toBe(
    '{ "a" : [1,{"model":"inner"}], "n":1.50e3,"last":{"provider":1} ,"b":"\\u00e9"}',
  );
  expect(editMembers('{}', { set: { a: 1 } })).toBe('{"a":1}');
  expect(editMembers('{"a":1}', { set: { b: 2 }, remove: ['a'] })).toBe('{"b":2}');
});

test('a duplicate member is removed twice', () => {
  expect(editMembers('{"model":"a","x":1,"\\u006dodel":"b"}', { set: {}, remove: ['model'] })).toBe(
    '{"x":1}',
  );
});

test('agrees with parsing, for any object and any spacing', () => {
  fc.assert(
    fc.property(
      OBJECT,
      OBJECT,
      fc.array(fc.string()),
      fc.constantFrom(undefined, 1, '\t'),
      (object, set, some, space) => {
        const remove = [...some, ...Object.keys(object).slice(0, 2)].filter(
          (key) => !Object.hasOwn(set, key),
        );
        const text = JSON.stringify(object, null, space);
        const expected = { ...(JSON.parse(text) as object), ...(JSON.parse(JSON.stringify(set)) as object) };
        for (const key of remove) delete (expected as Record<string, unknown>)[key];
        expect(JSON.parse(editMembers(text, { set: set as Record<string, never>, remove }))).toEqual(
          expected,
        );
        expect(
          topLevelMembers(text)
            .map((member) => member.key)
            .toSorted(),
        ).toEqual(Object.keys(JSON.parse(text) as object).toSorted());
      },
    ),
    { numRuns: casesOf(500) },
  );
});
