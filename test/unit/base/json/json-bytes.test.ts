import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { editJson, jsonBytes, type MemberEdits, setMembers } from '../../../../src/base/json/json-bytes.ts';
import { joined } from '../../../../src/base/lib/bytes.ts';
import { casesOf } from '../../../support/share.ts';
import { OBJECT } from '../../../support/any-object.ts';

function edited(text: string, edits: MemberEdits): string {
  return joined(editJson(jsonBytes(Buffer.from(text)), edits)).toString();
}

test('only the named members change; every other byte stays', () => {
  const text = '{ "a" : [1,{"model":"inner"}], "model":"x\\"y" ,\n"é":1.50e3,"last":{"provider":1} }';
  expect(edited(text, { set: { model: 'z' } })).toBe(text.replace('"x\\"y"', '"z"'));
  expect(edited(text, { set: {}, remove: ['last', 'a'] })).toBe('{ "model":"x\\"y" ,\n"é":1.50e3 }');
  expect(edited(text, { set: { b: '漢' }, remove: ['model'] })).toBe(
    '{ "a" : [1,{"model":"inner"}], "é":1.50e3,"last":{"provider":1},"b":"漢" }',
  );
  expect(edited('{}', { set: { a: 1 } })).toBe('{"a":1}');
  expect(edited('{"a":1}', { set: { b: 2 }, remove: ['a'] })).toBe('{"b":2}');
  expect(edited('{"mod\\u0065l":"a"}', { set: { model: 'b' } })).toBe('{"mod\\u0065l":"b"}');
});

test('unchanged bytes are not copied', () => {
  const bytes = Buffer.from('{"model":"a","messages":["long"]}');
  const slices = editJson(jsonBytes(bytes), { set: { model: 'b' } });
  expect(slices.map((slice) => slice.buffer === bytes.buffer && slice.length)).toEqual([9, false, 21]);
});

test('agrees with parsing, for any object and any spacing', () => {
  fc.assert(
    fc.property(
      OBJECT,
      OBJECT,
      fc.array(fc.string()),
      fc.nat(),
      fc.constantFrom(undefined, 1, '\t'),
      (object, set, some, from, space) => {
        const names = Object.keys(object);
        const own = names.slice(from % (names.length + 1));
        const remove = [...some, ...own.slice(0, 2)].filter((name) => !Object.hasOwn(set, name));
        const text = JSON.stringify(object, null, space);
        const expected = new Map(Object.entries({ ...object, ...set }));
        for (const name of remove) expected.delete(name);
        const read = JSON.parse(edited(text, { set: set as Record<string, never>, remove })) as object;
        expect(read).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(expected))));
      },
    ),
    { numRuns: casesOf(1000) },
  );
});

/** The same object with these members set, as an upstream's answer is edited. */
function withMembers(text: string, set: MemberEdits['set']): string {
  return joined(setMembers(Buffer.from(text, 'latin1'), set)).toString('latin1');
}

test('any response can be edited: duplicate members, a hundred levels, invalid UTF-8', () => {
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  const text = `{"id":"a","x":${deep},"id":"b","\\u006dodel":"\xff","y":{"model":1}}`;
  const expected = text.replace('"a"', '"z"').replace('"\xff"', '"m"');
  expect(withMembers(text, { id: 'z', model: 'm' })).toBe(expected);
  expect(withMembers('{"id":"a"}', { id: 'z', model: 'm' })).toBe('{"id":"z","model":"m"}');
  expect(withMembers('{ }', { id: 'z' })).toBe('{"id":"z" }');
});

test('an edit looks no further than it must', () => {
  const bytes = Buffer.from('{"id":"a","model":"b","choices":["long"]}');
  const slices = setMembers(bytes, { id: 'z', model: 'm' });
  expect(slices.at(-1)?.toString()).toBe(',"choices":["long"]}');
  expect(slices.at(-1)?.buffer).toBe(bytes.buffer);
});
